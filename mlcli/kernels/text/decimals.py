"""The float nearest to a decimal number, exactly: digits times a power of ten, by one product of 128 bits.

The algorithm is Eisel and Lemire's (Lemire: Number parsing at a gigabyte per second, 2021; without the
fallback that Mushtak and Lemire proved needless, 2023). The twin that says the same is Python's ``float``.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mlcli.core.tables import Rows

Letters = NDArray[np.uint8]
Bits = NDArray[np.uint64]

LOWEST, HIGHEST = -342, 308
"""The powers of ten that matter for a float; below and above is 0 or infinity for any 64 bits of digits."""
NO_FLOAT = np.uint64(0xFFFFFFFFFFFFFFFF)
"""Said instead of the bits of a number that is not held as others are: infinite, or too near to 0."""
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)
HALF_BITS, LOW_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)
SPARE_BITS = np.uint64(0x1FF)
"""The bits of the upper half that lie below the 53 of a float, one to round by and one for the carry."""
MANTISSA_BITS, IMPLICIT_BIT = np.uint64(52), np.uint64(1 << 52)


def power_of_five(exponent: int) -> int:
    """The 128 first bits of a power of five, cut; those of a negative exponent are rounded up."""
    power = int(5 ** abs(exponent))
    if exponent >= 0:
        return first_bits(power << 128)
    bits = (power - 1).bit_length()
    shift = bits + 127 if exponent >= -27 else 2 * bits + 128
    return first_bits((1 << shift) // power + 1)


def first_bits(number: int) -> int:
    """The 128 first bits of a number that has as many or more."""
    return number >> number.bit_length() - 128


POWERS = np.array(
    [divmod(power_of_five(exponent), 1 << 64) for exponent in range(LOWEST, HIGHEST + 1)], dtype=np.uint64
)
"""The upper and lower 64 bits of each."""


@njit(cache=True, nogil=True, error_model="numpy")
def bits_of(digits: np.uint64, exponent: int) -> np.uint64:
    """The bits of the float nearest to digits times ten to the exponent, or ``NO_FLOAT``."""
    if digits == np.uint64(0):
        return np.uint64(0)
    if exponent < LOWEST or exponent > HIGHEST:
        return NO_FLOAT
    zeros = leading_zeros(digits)
    factor = digits << np.uint64(zeros)
    upper, lower = product(factor, POWERS[exponent - LOWEST, 0])
    if upper & SPARE_BITS == SPARE_BITS:
        carried = product(factor, POWERS[exponent - LOWEST, 1])[0]
        lower = lower + carried
        if lower < carried:
            upper = upper + ONE
    top = upper >> np.uint64(63)
    cut = top + np.uint64(9)
    mantissa = upper >> cut
    binary = (((152170 + 65536) * exponent) >> 16) + 63 + np.int64(top) - zeros + 1023
    if binary <= 0:
        return NO_FLOAT
    halfway = lower <= ONE and -4 <= exponent <= 23 and mantissa & THREE == ONE
    if halfway and mantissa << cut == upper:
        mantissa = mantissa - ONE  # half of an odd number and a half is rounded to even
    mantissa = (mantissa + (mantissa & ONE)) >> ONE
    if mantissa >= TWO << MANTISSA_BITS:
        mantissa = IMPLICIT_BIT
        binary += 1
    if binary >= 0x7FF:
        return NO_FLOAT
    return (mantissa & (IMPLICIT_BIT - ONE)) | (np.uint64(binary) << MANTISSA_BITS)


@njit(cache=True, nogil=True, error_model="numpy")
def product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The upper and lower 64 bits of a product."""
    a_high, a_low = a >> HALF_BITS, a & LOW_HALF
    b_high, b_low = b >> HALF_BITS, b & LOW_HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> HALF_BITS)
    crossed = a_low * b_high + (middle & LOW_HALF)
    upper = a_high * b_high + (middle >> HALF_BITS) + (crossed >> HALF_BITS)
    return upper, (crossed << HALF_BITS) | (low & LOW_HALF)


@njit(cache=True, nogil=True, error_model="numpy")
def leading_zeros(digits: np.uint64) -> int:
    """How many bits of 64 are 0 before the first that is not."""
    zeros = 0
    step = 32
    while step:
        if digits >> np.uint64(64 - step) == np.uint64(0):
            digits = digits << np.uint64(step)
            zeros += step
        step >>= 1
    return zeros


@njit(cache=True, nogil=True, error_model="numpy")
def floats(digits: Bits, exponents: Rows, bits: Bits) -> None:
    """The bits of each float, for tests against Python's."""
    for i in range(len(digits)):
        bits[i] = bits_of(digits[i], exponents[i])
