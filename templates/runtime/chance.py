"""Values that nobody can guess."""
import secrets


def text(length, characters):
    return "".join(secrets.choice(characters) for _ in range(length))


def octets(count):
    return secrets.token_bytes(count)
