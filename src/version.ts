/** The version of this package, written out so that no start has to read package.json; a test keeps the two equal. */
export const version = '0.2.0'
