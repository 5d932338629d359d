"""GAN detector: a row is odd when a generator that has learned to imitate rows cannot generate one near it.

Formula:
    A generator G makes rows of noise z; a discriminator D says how probably a row is a real one. In turns, D steps
    against −log D(x) − log(1 − D(G(z))), and G against −log D(G(z)). s(x) = min_z ‖x − G(z)‖².

Assumes:
    Good rows are easier to generate than anomalies, and many enough to learn from: of a few hundred rows an
    autoencoder or neighbours mostly tell more.

Cost:
    About 18 × parameters operations for each training row and epoch. Each predicted row is found by gradient
    descent in z: ``search`` times forward and backward through G, which makes it slow to answer.

Choices:
    Hidden layers and z are tanh and Gaussian; the generator has the hidden layers of the discriminator. Real
    rows count as 0.9 real (one-sided smoothing, Salimans et al. 2016), and G's loss is the one that does not
    saturate (Goodfellow et al. 2014). The search begins at the nearest of ``tries`` forged rows, the same for
    all predicted rows. Of the scores of AnoGAN only the residual is taken. Two networks that learn against each
    other need not converge: the curve shows the losses of both, and a loss of D near 0 means that G forges
    nothing.
"""

from __future__ import annotations

import math

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import as_repeats
from mlcli.engines.network.network import IDENTITY, OUTPUTS, SIGMOID, TANH, Adam, Network, check_layers, layers_of
from mlcli.tasks.anomaly import Detector, ScreenedRows

REAL = 0.9
"""What the discriminator is to say of a real row."""
JUDGED = OUTPUTS["sigmoid", "cross-entropy"]


@register("gan-detector", reference="Schlegl et al. 2017, Unsupervised anomaly detection with GANs")
class GanDetector(Detector):
    """Scores by what the generator leaves of a row."""

    hidden: tuple[int, ...] = param((64,), "how many units each hidden layer of both networks has", ge=1)
    noise: int | None = param(None, "how many numbers z has; none: half of the columns", ge=1)
    epochs: int = param(200, "how often every row is learned from", ge=1, tune=(50, 500))
    batch: int = param(32, "the batch size: how many rows a step is made from", ge=1)
    learning_rate: float = param(0.001, "the learning rate of Adam, of both networks", gt=0, tune=(1e-4, 1e-2))
    tries: int = param(500, "how many rows are generated, to begin the search at the nearest", ge=1)
    search: int = param(50, "how many steps the search for z has", ge=0)
    stride: float = param(0.05, "how far a step of the search goes", gt=0)

    weights_: tuple[Array, ...] = learned()
    biases_: tuple[Array, ...] = learned()
    tried_: Array = learned("tries", "drawn")
    """The noise of the rows that are forged to begin at."""
    losses_: Array = learned()
    """Of discriminator and generator, epoch by epoch."""

    accepts = Accepts(prefers_scaled=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Let both networks learn in turns."""
        X = as_repeats(data).table.numbers
        if not X.shape[1]:
            raise FitError("gan-detector needs a column to generate")
        hidden = [TANH] * len(self.hidden)
        forger = Network(self._widths, [*hidden, IDENTITY])
        judge = Network((X.shape[1], *self.hidden, 1), [*hidden, SIGMOID])
        for network in (forger, judge):
            network.draw(rng)
        # β₁ of Adam, with which networks that learn against each other swing less (Radford et al. 2016)
        forger_adam, judge_adam = (
            Adam(len(network.parameters), self.learning_rate, 0.5) for network in (forger, judge)
        )
        losses = np.zeros((self.epochs, 2))
        for epoch in range(self.epochs):
            order = rng.permutation(len(X))
            for first in range(0, len(X), self.batch):
                real = X[order[first : first + self.batch]]
                share = len(real) / len(X)
                losses[epoch, 0] += share * judge_slopes(judge, real, forger.forward(self._noise(len(real), rng)))
                judge_adam.step(judge.parameters, judge.slopes)
                losses[epoch, 1] += share * forger_slopes(forger, judge, self._noise(len(real), rng))
                forger_adam.step(forger.parameters, forger.slopes)
        if not np.isfinite(losses).all():
            raise FitError(
                "the losses of gan-detector are infinite: a smaller learning_rate or scaled columns help"
            )
        self.weights_, self.biases_ = forger.learned()
        self.tried_, self.losses_ = self._noise(self.tries, rng), losses

    @property
    def _widths(self) -> tuple[int, ...]:
        columns = sum(not column.coded for column in self.columns_)
        return self.noise or math.ceil(columns / 2), *self.hidden, columns

    def _noise(self, rows: int, rng: np.random.Generator) -> Array:
        return rng.normal(size=(rows, self._widths[0]))

    def forged(self, table: Table) -> Array:
        """The most similar row that the search finds among what the generator makes, for each row."""
        from scipy.spatial.distance import cdist

        X = table.numbers
        network = Network.of(self.weights_, self.biases_, [TANH] * len(self.hidden) + [IDENTITY])
        z = self.tried_[cdist(X, network.answers(self.tried_)).argmin(axis=1)]
        adam, best, least = Adam(z.size, self.stride), network.answers(z), np.full(len(X), np.inf)
        for step in range(self.search + 1):
            forged = network.forward(z)
            residuals = forged - X
            squares = (residuals**2).sum(axis=1)
            closer = squares < least
            best[closer], least[closer] = forged[closer], squares[closer]
            if step < self.search:
                slopes = network.backward(residuals) @ network.layers[0].weight.T
                adam.step(z.reshape(-1), slopes.reshape(-1))
        return best

    def score_rows(self, table: Table) -> Array:
        """The squared distance of each row to what was forged of it."""
        return np.asarray(((table.numbers - self.forged(table)) ** 2).sum(axis=1))

    def deviations(self, table: Table) -> Array:
        """The squared residual of each column, with the sign of the deviation."""
        apart = table.numbers - self.forged(table)
        return np.asarray(apart * np.abs(apart))

    def explain(self) -> findings.Explanation:
        """The layers of the generator, and the losses of both networks."""
        names = ["tanh"] * len(self.hidden) + ["identity"]
        lines = zip(("discriminator", "generator"), self.losses_.T, strict=True)
        curve = findings.Curve(
            "Loss by epoch",
            "epoch",
            tuple(range(1, self.epochs + 1)),
            tuple((name, tuple(line.tolist())) for name, line in lines),
            note="the discriminator's is 1.39 where it cannot tell real rows from generated ones",
        )
        return layers_of(self._widths[0], self.biases_, names), curve

    def check_learned(self) -> None:
        """Refuse layers of other widths, and noise for another generator."""
        super().check_learned()
        check_layers(self.weights_, self.biases_, self._widths)
        if self.tried_.shape[1] != self._widths[0]:
            raise ValueError("the saved noise is not that of the generator")


def judge_slopes(judge: Network, real: Array, forged: Array) -> float:
    """Fill the slopes of the discriminator; its loss, of real rows and of forged ones together."""
    targets = np.repeat([[REAL], [0.0]], [len(real), len(forged)], axis=0)
    answers = judge.forward(np.concatenate([real, forged]))
    loss = float(JUDGED.losses(answers, targets).sum()) / len(real)
    judge.backward(JUDGED.errors(answers, targets) / len(real))
    return loss


def forger_slopes(forger: Network, judge: Network, noise: Array) -> float:
    """Fill the slopes of the generator, through those of the discriminator; its loss."""
    answers, wanted = judge.forward(forger.forward(noise)), np.ones((len(noise), 1))
    loss = float(JUDGED.losses(answers, wanted).mean())
    back = judge.backward(JUDGED.errors(answers, wanted) / len(noise)) @ judge.layers[0].weight.T
    forger.backward(back)
    return loss
