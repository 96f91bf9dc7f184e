"""As much of a client of MySQL as accounts need: one statement after the other, values in the statement."""

import hashlib
import socket
import struct


class MySQLError(Exception):
    pass


def scrambled(password, salt):
    """mysql_native_password: what proves the password without telling it."""
    if not password:
        return b""
    once = hashlib.sha1(password.encode()).digest()
    mask = hashlib.sha1(salt + hashlib.sha1(once).digest()).digest()
    return bytes(a ^ b for a, b in zip(once, mask))


def quoted(text):
    """A string of SQL, whatever is in it (NO_BACKSLASH_ESCAPES is set)."""
    return "'" + text.replace("'", "''") + "'"


class Connection:
    def __init__(self, host, port, user, password, timeout=5):
        self.socket = socket.create_connection((host, port), timeout)
        self.number = 0
        greeting = self.read()
        if greeting[0] == 0xff:
            raise MySQLError(greeting[3:].decode("utf-8", "replace"))
        end = greeting.index(b"\0", 1)
        salt = greeting[end + 5:end + 13] + greeting[end + 32:end + 44]
        proof = scrambled(password, salt)
        self.write(struct.pack("<IIB23x", 0x000aa201, 1 << 24, 45) + user.encode() + b"\0"
                   + bytes([len(proof)]) + proof + b"mysql_native_password\0")
        answer = self.read()
        if answer[0] == 0xfe:  # asked for another way, or with another salt
            name, _, salt = answer[1:].partition(b"\0")
            if name != b"mysql_native_password":
                raise MySQLError("the server wants %s" % name.decode())
            self.write(scrambled(password, salt.rstrip(b"\0")))
            answer = self.read()
        self.check(answer)
        self.run("SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI'")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def run(self, statement):
        """How many rows the statement has changed."""
        self.number = 0
        self.write(b"\x03" + statement.encode())
        answer = self.read()
        self.check(answer)
        return answer[1]

    def check(self, answer):
        if answer[0] == 0xff:
            raise MySQLError(answer[9:].decode("utf-8", "replace"))
        if answer[0] != 0:
            raise MySQLError("an answer that was not expected")

    def read(self):
        head = self.exactly(4)
        self.number = head[3] + 1
        return self.exactly(int.from_bytes(head[:3], "little"))

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise MySQLError("the server has closed the connection")
            data += more
        return data

    def write(self, data):
        self.socket.sendall(len(data).to_bytes(3, "little") + bytes([self.number % 256]) + data)
