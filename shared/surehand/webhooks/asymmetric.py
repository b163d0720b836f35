"""Signatures with a public key: Ed25519 and ECDSA P-256. The only module here that imports `cryptography`.

It is imported when a configured scheme needs it and never otherwise: `require` is called when the source is declared,
so that the import is paid at initialisation, not in the first request.
"""

from __future__ import annotations

from surehand.errors import DeclarationError

try:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey as EcPrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_der_private_key, load_der_public_key
except ImportError as error:
    raise DeclarationError(
        "this scheme verifies with a public key, which needs the package 'cryptography': install surehand[crypto]"
    ) from error


def check_public_key(der: bytes) -> None:
    """Refuse what is no P-256 public key in DER (SubjectPublicKeyInfo).

    Raises:
        ValueError: It is none.
    """
    _p256(der)


def verify_ed25519(public: bytes, signature: bytes, content: bytes) -> bool:
    """Tell whether *signature* (64 bytes) was made over *content* by the owner of the key *public* (32 bytes)."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


def verify_p256(public: bytes, signature: bytes, content: bytes) -> bool:
    """Tell whether *signature* (DER) was made over the SHA-256 of *content* by the owner of the key *public* (DER)."""
    try:
        _p256(public).verify(signature, content, ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True


def sign_ed25519(private: bytes, content: bytes) -> bytes:
    """Sign with a raw private key: 32 bytes, or 64 of which the first 32 are the seed."""
    return Ed25519PrivateKey.from_private_bytes(private[:32]).sign(content)


def sign_p256(private: bytes, content: bytes) -> bytes:
    """Sign with a P-256 private key in DER (PKCS #8).

    Raises:
        ValueError: It is no such key.
    """
    key = load_der_private_key(private, password=None)
    if not isinstance(key, EcPrivateKey):
        raise ValueError("not an elliptic curve key")
    return key.sign(content, ECDSA(SHA256()))


def _p256(der: bytes) -> EllipticCurvePublicKey:
    try:
        key = load_der_public_key(der)
    except UnsupportedAlgorithm as error:
        raise ValueError("not a P-256 public key") from error
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
        raise ValueError("not a P-256 public key")
    return key
