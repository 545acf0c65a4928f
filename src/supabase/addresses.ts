/** E-mail addresses and phone numbers. */
import { isEmail, LONGEST_EMAIL_BYTES } from '../check/formats.js'
import type { Tables } from '../core/state.js'
import { emailExists, phoneExists, validationFailed } from './errors.js'

/** An address by which a user is found. */
export type UserAddress = { readonly email: string } | { readonly phone: string }

/** Returns the address in lower case. Throws a 400 for a malformed one. */
export function validEmail(given: string): string {
  if (given === '') throw validationFailed('An email address is required')
  if (Buffer.byteLength(given) > LONGEST_EMAIL_BYTES) throw validationFailed('An email address is too long')
  // Checked before lower-casing, which would turn the Kelvin sign into the k of another address.
  if (!isEmail(given)) throw validationFailed('Unable to validate email address: invalid format')
  return given.toLowerCase()
}

export const formatPhone = (given: string) => given.replace(/^\+/, '').replaceAll(' ', '')

/** Returns the number as digits only. Throws a 400 for anything but an E.164 number. */
export function validPhone(given: string): string {
  const number = formatPhone(given)
  if (!/^[1-9]\d{1,14}$/.test(number)) throw validationFailed('Invalid phone number format (E.164 required)')
  return number
}

interface Addresses {
  readonly email?: string | null
  readonly phone?: string | null
}

/** Finds the first of the addresses that a user other than `ownId` has. Empty addresses are ignored. */
export async function takenAddress({ users }: Tables, { email, phone }: Addresses, ownId?: string) {
  for (const address of [email ? { email } : undefined, phone ? { phone } : undefined]) {
    const holder = address && (await users.find(address)).find(({ id }) => id !== ownId)
    if (holder) return { address, holder }
  }
  return undefined
}

/** Throws a 422 if a user other than `ownId` has one of the addresses. Empty addresses are ignored. */
export async function requireFree(tables: Tables, addresses: Addresses, ownId?: string, phoneTaken = phoneExists) {
  const taken = await takenAddress(tables, addresses, ownId)
  if (taken) throw 'email' in taken.address ? emailExists() : phoneTaken()
}
