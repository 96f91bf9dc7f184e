package simulate

// ContainersOf is for the tests outside of the package.
var ContainersOf = containersOf
