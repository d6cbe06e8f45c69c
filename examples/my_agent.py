"""A whole agent: it wins if it can, and otherwise leaves the opponent no win if it can."""

import random


def choose(state, clock):
    """Choose an action in any game without hidden cards; `clock.left_ms()` tells the time left."""
    me, actions = state.to_move(), list(state.actions())
    random.shuffle(actions)
    return max(actions, key=lambda action: worth(state.result(action), me))


def worth(state, me):
    """My utility if the game is over now, or after the opponent's best answer."""
    if state.is_terminal():
        return state.utility(me)
    answers = [state.result(answer) for answer in state.actions()]
    return min((after.utility(me) for after in answers if after.is_terminal()), default=0)
