// What of d3 the report uses; ./build bundles it into src/latree/report/d3.js.
export { hierarchy } from "d3-hierarchy";
export { pointer, select } from "d3-selection";
export { pointRadial } from "d3-shape";
export { zoom, zoomIdentity, zoomTransform } from "d3-zoom";
import "d3-transition";
