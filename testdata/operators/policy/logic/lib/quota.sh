quota() { :; }
