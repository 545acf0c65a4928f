/** Every endpoint of the auth backend: Supabase Auth as a self-hosted platform runs it. */
import type { Endpoint } from '../../core/exchange.js'
import type { Backend } from '../backend.js'
import { health, jwks, openIdConfiguration, settings, switchedOff } from './about.js'
import { getUser, signup, updateUser } from './account.js'
import { generateLink, invite } from './admin-links.js'
import { createUser, deleteUser, getUserById, listUsers, updateUserById } from './admin-users.js'
import { magicLink, otp, reauthenticate, recover, resend } from './otp.js'
import { authorize, callback, chooseAccount, linkIdentity, unlink } from './social.js'
import { logout, token } from './token.js'
import { followLink, verify } from './verify.js'

const makers = [
  ...[signup, token, getUser, updateUser, logout],
  ...[recover, otp, magicLink, verify, followLink, resend, reauthenticate],
  ...[authorize, chooseAccount, callback, linkIdentity, unlink],
  ...[createUser, listUsers, getUserById, updateUserById, deleteUser, generateLink, invite],
  ...[settings, health, jwks, openIdConfiguration],
  ...switchedOff,
]

export const authEndpoints = (backend: Backend): readonly Endpoint[] => makers.map(make => make(backend))
