"""What belongs to the paper alone: its random trees and models, its theory, its experiments."""
