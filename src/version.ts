/** The version of this package, so that a start need not read package.json. A test compares the two. */
export const version = '0.4.0'
