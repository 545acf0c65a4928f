/** Every endpoint of the auth backend: Supabase Auth as a self-hosted platform runs it. */
import type { Access, Endpoint } from '../../core/exchange.js'
import type { Backend } from '../backend.js'
import { isOpenAtGateway } from '../callers.js'
import { health, jwks, openIdConfiguration, settings, switchedOff } from './about.js'
import { getUser, signup, updateUser } from './account.js'
import { generateLink, invite } from './admin-links.js'
import { createUser, deleteUser, getUserById, listUsers, updateUserById } from './admin-users.js'
import { magicLink, otp, reauthenticate, recover, resend } from './otp.js'
import { authorize, callback, chooseAccount, linkIdentity, unlink } from './social.js'
import { logout, token } from './token.js'
import { followLink, verify } from './verify.js'

const working = [
  ...[signup, token, getUser, updateUser, logout],
  ...[recover, otp, magicLink, verify, followLink, resend, reauthenticate],
  ...[authorize, chooseAccount, callback, linkIdentity, unlink],
  ...[createUser, listUsers, getUserById, updateUserById, deleteUser, generateLink, invite],
  ...[settings, health, jwks, openIdConfiguration],
]

export const authEndpoints = (backend: Backend): readonly Endpoint[] =>
  [...working, ...switchedOff].map(make => make(backend))

/** The endpoints of features that are not switched off, each with the credentials that it accepts. */
export function workingEndpoints(backend: Backend, { hasGateway }: { readonly hasGateway: boolean }) {
  return working.map(make => {
    const { method, path, admits } = make(backend)
    const gateway: Access = hasGateway && !isOpenAtGateway(path) ? ['anon'] : 'anyone'
    return { method, path, access: admits === 'anyone' ? gateway : admits }
  })
}
