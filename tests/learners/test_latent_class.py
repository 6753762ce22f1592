from latree import learn_tree
from latree.paper.simulate import random_model, random_tree


def sampled(n_rows=400, seed=0):
    tree = random_tree(7, 0.5, seed)
    return random_model(
        tree, n_states=3, hidden_states=2, start="identity", perturbation=0.3, random_state=seed
    ).sample(n_rows, seed)


def test_a_latent_class_model_is_a_star():
    tree = learn_tree(sampled(), method="lcm")
    assert tree.edges.tolist() == [[column, 7] for column in range(7)]
