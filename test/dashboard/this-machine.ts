/** The machine that the tests run on, as others see it. */
import { networkInterfaces } from 'node:os'

/** An IPv4 address that is not the loopback's; `undefined` where there is none. */
export const addressOfThisMachine = () =>
  Object.values(networkInterfaces())
    .flat()
    .find(address => address?.family === 'IPv4' && !address.internal)?.address
