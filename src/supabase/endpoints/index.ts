/** Every endpoint of the auth backend: Supabase Auth as a self-hosted platform runs it. */
import type { Endpoint } from '../../core/exchange.js'
import type { Backend } from '../backend.js'
import { health, jwks, openIdConfiguration, settings } from './about.js'
import { generateLink, invite } from './admin-links.js'
import { auditLog, createUser, deleteUser, getUserById, listUsers, updateUserById } from './admin-users.js'
import { magicLink, otp, recover } from './otp.js'
import { reauthenticate, resend } from './resend.js'
import { signup } from './signup.js'
import { switchedOff } from './switched-off.js'
import { logout, token } from './token.js'
import { getUser, updateUser } from './user.js'
import { followLink, verify } from './verify.js'

export const authEndpoints = (backend: Backend): readonly Endpoint[] => [
  ...[signup, token, getUser, updateUser, logout].map(make => make(backend)),
  ...[recover, otp, magicLink, verify, followLink, resend, reauthenticate].map(make => make(backend)),
  ...[createUser, listUsers, getUserById, updateUserById, deleteUser, generateLink, invite, auditLog].map(make =>
    make(backend),
  ),
  ...[settings, health, jwks, openIdConfiguration].map(make => make(backend)),
  ...switchedOff(backend),
]
