/** The machine that the tests run on, as other machines see it. */
import { networkInterfaces } from 'node:os'

/** An IPv4 address other than loopback; `undefined` if there is none. */
export const addressOfThisMachine = () =>
  Object.values(networkInterfaces())
    .flat()
    .find(address => address?.family === 'IPv4' && !address.internal)?.address
