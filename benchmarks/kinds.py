"""Methods of the other kinds of task beside scikit-learn and SciPy: the same rows, the same settings, in turns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage as scipy_linkage
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, kmeans_plusplus
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.manifold import TSNE
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, PolynomialFeatures, StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks.timing import for_a_while, in_turns, markdown, ratio, spread
from mlcli.core.params import build
from mlcli.core.pipeline import learn
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.centres import STARTS, centred_rows
from mlcli.tasks.table import kind_named

ROWS, COLUMNS = 10_000, 20
PATIENCE = 1.0
"""Seconds after which no further turn is begun."""
TURNS = 7
ITERATIONS = 20
COMPONENTS = 3
RESTARTS = 10
NARROWS_TO = (
    *("k-means", "k-means-plus-plus", "agglomerative", "gmm", "pca", "lof", "knn-distance"),
    *("isolation-forest", "one-class-svm", "t-sne", "kde", "dbscan"),
    *("step polynomial", "step discretise", "step pca"),
)
LINKAGES = ("single", "complete", "average", "centroid", "ward")

HEADER = ("method", "rows × columns", "ours", "peer", "ratio", "what is compared")
LEGEND = f"""Processor time of one thread, {TURNS} turns or as many as begin in {PATIENCE:g} s: medians and
ranges. A ratio above 1 means that mlcli is faster."""

Row = tuple[object, ...]


class Comparison(NamedTuple):
    """The same work by both sides."""

    method: str
    choice: str
    X: NDArray[Any]
    mine: Callable[[], Any]
    theirs: Callable[[], Any]
    what: str

    def row(self) -> Row:
        """Measure it, after a first turn that does not count."""
        things = {"ours": self.mine, "theirs": self.theirs}
        in_turns(things, 0)
        times = for_a_while(things, PATIENCE, TURNS)
        name = f"{self.method} ({self.choice})" if self.choice else self.method
        speed = f"**{ratio(times['theirs'], times['ours']):.2f}**"
        size = f"{len(self.X):,} × {self.X.shape[1]:,}"
        return name, size, spread(times["ours"]), spread(times["theirs"]), speed, self.what


def table(only: Collection[str] = ()) -> str:
    """One row per method and choice."""
    return rows_as_table((one for compared in COMPARED for one in compared()), only)


def rows_as_table(compared: Iterable[Comparison], only: Collection[str]) -> str:
    """One row each, of the methods that are wanted."""
    warnings.simplefilter("ignore")
    return f"{LEGEND}\n\n{markdown(HEADER, [one.row() for one in compared if not only or one.method in only])}"


def clustered_rows(n: int = ROWS, p: int = COLUMNS, count: int = COMPONENTS) -> Array:
    """Rows around a few centres."""
    rng = np.random.default_rng(n + p)
    return rng.normal(size=(count, p))[rng.integers(0, count, n)] + rng.normal(size=(n, p))


def rows_for(kind: str, X: Array) -> Any:
    """Rows of a kind that learns without labels."""
    columns = tuple(Column(f"x{place}") for place in range(X.shape[1]))
    cells = Table(columns, X, np.empty((len(X), 0), np.int32))
    labels = np.full(len(X), -1, np.int32)
    return kind_named(kind).rows(table=cells, rows=np.arange(len(X)), labels=labels)


def ours(method: str, params: dict[str, Any], data: Any) -> Any:
    """Our model after learning."""
    model = build(MODELS.load(method), params)
    learn(model, data, np.random.default_rng(0))
    return model


def mixtures() -> Iterator[Comparison]:
    """As many rounds of EM on both sides, from one start by k-means++ each."""
    X = clustered_rows()
    data = rows_for("density", X)
    for covariance, peer in (("full", "full"), ("diagonal", "diag"), ("spherical", "spherical")):
        same = {"components": COMPONENTS, "restarts": 1, "max_iterations": ITERATIONS, "tolerance": 0.0}
        oracle = GaussianMixture(
            COMPONENTS, covariance_type=peer, max_iter=ITERATIONS, tol=0.0, init_params="k-means++", random_state=0
        )
        mine = partial(ours, "gmm", {**same, "covariance": covariance}, data)
        yield Comparison("gmm", covariance, X, mine, partial(oracle.fit, X), f"{ITERATIONS} rounds of EM")


def densities_and_density_clusters() -> Iterator[Comparison]:
    """Kernel densities and DBSCAN: every row beside every other."""
    X = clustered_rows(3_000)
    known = rows_for("density", X)
    own = KernelDensity(bandwidth=len(X) ** (-1 / (COLUMNS + 4)))
    scaled = X / X.std(axis=0)
    mine = partial(described, {"covariance": "diagonal"}, known)
    yield Comparison("kde", "", X, mine, partial(scored_by_peer, own, scaled), "Scott's bandwidth, own rows")
    mine = partial(ours, "dbscan", {"eps": 4.0, "min_rows": 10}, rows_for("clustering", X))
    yield Comparison("dbscan", "", X, mine, partial(DBSCAN(eps=4.0, min_samples=10).fit, X), "equal eps")


def described(params: dict[str, Any], data: Any) -> Any:
    """Our density of the rows that are learned from."""
    return ours("kde", params, data).log_density(data.table)


def projections() -> Iterator[Comparison]:
    """All components of many rows, of many columns, and of more columns than rows."""
    for n, p in ((ROWS, COLUMNS), (2_000, 500), (300, 1_000)):
        X = clustered_rows(n, p)
        data = rows_for("projection", X)
        for by, solver in (("svd", "full"), ("eigen", "covariance_eigh"), ("auto", "full")):
            oracle = PCA(svd_solver=solver)
            mine = partial(ours, "pca", {"share": 1.0, "by": by}, data)
            yield Comparison("pca", by, X, mine, partial(oracle.fit, X), f"svd_solver={solver}")


def neighbours() -> Iterator[Comparison]:
    """Detectors that learn, then score the rows that they have learned from, or other rows."""
    X, Z = clustered_rows(), clustered_rows() + 0.5
    data, other = rows_for("anomaly", X), rows_for("anomaly", Z)

    def scored(method: str, k: int, asked: Any) -> Any:
        return ours(method, {"neighbours": k}, data).score_rows(asked.table)

    def novelties(k: int) -> Any:
        return LocalOutlierFactor(n_neighbors=k, novelty=True).fit(X).score_samples(Z)

    def distances(k: int) -> Any:
        return NearestNeighbors(n_neighbors=k).fit(X).kneighbors()

    for k in (5, 20):
        own = partial(LocalOutlierFactor(n_neighbors=k).fit, X)
        yield Comparison("lof", "", X, partial(scored, "lof", k, data), own, f"{k} neighbours, own rows")
        new = partial(novelties, k)
        yield Comparison("lof", "", X, partial(scored, "lof", k, other), new, f"{k} neighbours, other rows")
        near = partial(scored, "knn-distance", k, data)
        yield Comparison("knn-distance", "", X, near, partial(distances, k), f"{k} neighbours, own rows")
    few = (np.random.default_rng(0).random((ROWS, COLUMNS)) < 0.1).astype(float)
    tied = partial(ours, "lof", {"neighbours": 20}, rows_for("anomaly", few))
    same = partial(LocalOutlierFactor(n_neighbors=20).fit, few)
    yield Comparison(
        "lof", "", few, tied, same, "20 neighbours, own rows of 0 and 1, most of them equal to others"
    )


def means() -> Iterator[Comparison]:
    """K-means to its end from the same first centres, with the stopping rule that both have by default."""
    clouds = {"clear clusters": clustered_rows(count=8), "one cloud": clustered_rows(count=1)}
    for (cloud, X), clusters, start in product(clouds.items(), (COMPONENTS, 8), STARTS):
        origin, rng = X.mean(axis=0), np.random.default_rng(0)
        around = centred_rows(X - origin, np.ones(len(X)))
        centres = [STARTS[start](around, clusters, rng) for _ in range(RESTARTS)]
        mine = partial(settled, centres, clusters, rows_for("clustering", X))
        theirs = partial(settled_by_peer, centres, clusters, X)
        what = f"{clusters} clusters, {RESTARTS} restarts from the same centres, {cloud}, Lloyd"
        yield Comparison("k-means", start, X, mine, theirs, what)
    mine = partial(STARTS["k-means-plus-plus"], around, clusters, rng)
    peer = partial(kmeans_plusplus, X, clusters, random_state=0)
    yield Comparison("k-means-plus-plus", "", X, mine, peer, f"the first {clusters} centres alone")


def settled(centres: Sequence[Array], clusters: int, data: Any) -> Any:
    """Our k-means from given centres, one set for each restart."""
    given = iter(centres)
    with mock.patch.dict(STARTS, {"random-points": lambda *_: next(given)}):
        return ours("k-means", {"clusters": clusters, "start": "random-points", "restarts": len(centres)}, data)


def settled_by_peer(centres: Sequence[Array], clusters: int, X: Array) -> Any:
    """The same by scikit-learn, which centres rows before it asks for a start, and moves what it is given."""
    given = iter(centres)
    oracle = KMeans(clusters, init=lambda *_, **__: next(given).copy(), n_init=len(centres), algorithm="lloyd")
    return oracle.fit(X)


def mergers() -> Iterator[Comparison]:
    """The whole tree of merges; ours is cut and described besides."""
    X = clustered_rows()
    data = rows_for("clustering", X)
    for linkage in LINKAGES:
        mine = partial(ours, "agglomerative", {"linkage": linkage}, data)
        peer = partial(scipy_linkage, X, linkage)
        yield Comparison("agglomerative", linkage, X, mine, peer, "SciPy's linkage")
    tree = AgglomerativeClustering(COMPONENTS, linkage="ward", compute_full_tree=True)
    mine = partial(ours, "agglomerative", {"linkage": "ward"}, data)
    yield Comparison("agglomerative", "ward", X, mine, partial(tree.fit, X), "scikit-learn, full tree")


def detectors() -> Iterator[Comparison]:
    """Detectors that learn, then score the rows that they have learned from."""
    X = clustered_rows()
    some = X[:2_000]
    of_trees = IsolationForest(n_estimators=100, max_samples=256, random_state=0)
    mine = partial(scored_by, "isolation-forest", {"trees": 100, "sample": 256}, rows_for("anomaly", X))
    peer = partial(scored_by_peer, of_trees, X)
    yield Comparison("isolation-forest", "", X, mine, peer, "100 trees of 256 rows, own rows")
    mine = partial(scored_by, "one-class-svm", {"nu": 0.1, "gamma": 0.05}, rows_for("anomaly", some))
    peer = partial(scored_by_peer, OneClassSVM(nu=0.1, gamma=0.05), some)
    yield Comparison("one-class-svm", "", some, mine, peer, "LIBSVM, equal kernel and nu, own rows")


def scored_by(method: str, params: dict[str, Any], data: Any) -> Any:
    """Our scores of the rows that are learned from."""
    return ours(method, params, data).score_rows(data.table)


def scored_by_peer(oracle: Any, X: Array) -> Any:
    """The peer's."""
    return oracle.fit(X).score_samples(X)


def pictures() -> Iterator[Comparison]:
    """Rows placed in a plane."""
    X = clustered_rows(2_000)
    mine = partial(ours, "t-sne", {}, rows_for("projection", X))
    yield Comparison("t-sne", "", X, mine, partial(TSNE().fit, X), "as both have it by default (Barnes-Hut there)")


def steps() -> Iterator[Comparison]:
    """What a step learns from rows and makes of them."""
    X = clustered_rows()
    data = rows_for("clustering", X)
    for step, params, peer in (
        ("polynomial", {"degree": 2}, PolynomialFeatures(2, include_bias=False)),
        ("discretise", {"by": "equal-frequency", "bins": 8}, KBinsDiscretizer(8, encode="ordinal")),
        ("pca", {"components": 5}, make_pipeline(StandardScaler(), PCA(5, svd_solver="covariance_eigh"))),
    ):
        mine = partial(prepared, step, params, data)
        yield Comparison(f"step {step}", "", X, mine, partial(peer.fit_transform, X), "learned and applied")


def prepared(name: str, params: dict[str, Any], data: Any) -> Any:
    """The rows after a step of ours."""
    step = build(STEPS.load(name), params)
    step.learn(data, np.random.default_rng(0))
    return step.apply(data.table)


COMPARED: tuple[Callable[[], Iterator[Comparison]], ...] = (
    *(means, mergers, mixtures, densities_and_density_clusters, projections, neighbours),
    *(detectors, pictures, steps),
)
