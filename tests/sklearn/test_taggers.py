"""Taggers of ``mlcli.sklearn``: sequences as lists, as sklearn-crfsuite has them, or rows with groups."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

import mlcli.sklearn

made: Any = mlcli.sklearn
HOT, COLD = (["3", "1", "3"], ["hot", "cold", "hot"]), (["1", "1", "3"], ["cold", "cold", "hot"])


def weather(sentences: int = 60, seed: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """What people do in rain and sun, from a chain with a memory: the textbook's walk, shop and clean."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(sentences):
        tags = [int(rng.integers(2))]
        for _ in range(int(rng.integers(2, 7))):
            tags.append(tags[-1] if rng.random() < 0.8 else 1 - tags[-1])
        chances = ((0.1, 0.4, 0.5), (0.6, 0.3, 0.1))
        X.append([str(rng.choice(["walk", "shop", "clean"], p=chances[tag])) for tag in tags])
        y.append([("rain", "sun")[tag] for tag in tags])
    return X, y


def as_frame(X: list[list[str]], y: list[list[str]]) -> pd.DataFrame:
    """A row for each word, with its tag and the number of its sentence."""
    frame = pd.DataFrame({"word": X, "tag": y}).explode(["word", "tag"])
    return frame.rename_axis("sentence").reset_index()


def test_an_hmm_answers_the_tags_that_it_has_seen() -> None:
    """Nothing but 3 is seen of hot days and nothing but 1 of cold ones, so that the tags are certain."""
    sequences = [HOT] * 400 + [COLD] * 300
    hmm = made.HmmTagger().fit([x for x, _ in sequences], [y for _, y in sequences])
    assert hmm.classes_.tolist() == ["cold", "hot"]
    assert hmm.predict([HOT[0], COLD[0]]) == [HOT[1], COLD[1]]
    assert hmm.score(*zip(*sequences, strict=True)) == 1.0
    [[first, *_]] = hmm.predict_marginals([HOT[0]])
    assert first == {"cold": pytest.approx(0.0, abs=1e-3), "hot": pytest.approx(1.0, abs=1e-3)}


@pytest.mark.parametrize("name", ["HmmTagger", "CrfTagger", "MemmTagger"])
def test_lists_and_groups_give_the_same_tags(name: str) -> None:
    X, y = weather()
    frame = as_frame(X, y)
    of_lists = getattr(made, name)().fit(X, y)
    of_groups = getattr(made, name)().fit(frame[["word"]], frame["tag"], groups=frame["sentence"])
    flat = [tag for tags in of_lists.predict(X) for tag in tags]
    assert flat == of_groups.predict(frame[["word"]], groups=frame["sentence"]).tolist()
    assert 0.7 < of_lists.score(X, y) == pytest.approx(np.mean(np.array(flat) == frame["tag"]))


def test_rows_of_a_group_may_stand_apart() -> None:
    X, y = weather()
    frame = as_frame(X, y)
    model = made.CrfTagger().fit(frame[["word"]], frame["tag"], groups=frame["sentence"])
    tags = pd.Series(model.predict(frame[["word"]], groups=frame["sentence"]), frame.index)
    place = frame.groupby("sentence").cumcount()
    mixed = frame.assign(place=place).sort_values(["place", "sentence"])
    answers = pd.Series(model.predict(mixed[["word"]], groups=mixed["sentence"]), mixed.index)
    assert (answers.sort_index() == tags).all()


def test_features_of_a_crf_are_mappings() -> None:
    """A feature that says the tag outright; one that is new or absent changes nothing else."""
    X, y = weather()
    told = [
        [{"word": word, "is_sun": tag == "sun"} for word, tag in zip(*pair, strict=True)]
        for pair in zip(X, y, strict=True)
    ]
    crf = made.CrfTagger().fit(told, y)
    assert crf.score(told, y) > 0.99
    assert crf.predict([[{"word": "walk", "is_sun": True, "new": 1}, {"word": "unheard", "is_sun": False}]]) == [
        ["sun", "rain"]
    ]
    absent = crf.predict([[{"word": "clean"}]])
    assert absent == crf.predict([[{"word": "clean", "is_sun": False}]])


def test_taggers_stand_in_searches() -> None:
    X, y = weather()
    search = GridSearchCV(made.CrfTagger(), {"l2": [0.1, 10.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    frame = as_frame(X, y)
    scores = cross_val_score(clone(made.HmmTagger()), X, y, cv=3)
    assert scores.shape == (3,)
    folds = GroupKFold(3).split(frame, groups=frame["sentence"])
    train, test = (frame.iloc[rows] for rows in next(iter(folds)))
    model = made.HmmTagger().fit(train[["word"]], train["tag"], groups=train["sentence"])
    model = pickle.loads(pickle.dumps(model))
    assert model.score(test[["word"]], test["tag"], groups=test["sentence"]) > 0.6


def test_other_forms_are_refused() -> None:
    X, y = weather()
    frame = as_frame(X, y)
    with pytest.raises(ValueError, match="pass a list of sequences, or rows"):
        made.HmmTagger().fit(frame[["word"]], frame["tag"])
    with pytest.raises(ValueError, match="another length than its tags"):
        made.HmmTagger().fit([["a", "b"], ["a"]], [["x"], ["x", "y"]])
