# Random values of the simulation, in place of the runtime's: always the same, so that what is shown is.


def text(length, characters):
    return "".join(characters[index % len(characters)] for index in range(length))


def octets(count):
    return bytes(index % 256 for index in range(count))
