/** The responses of the auth backend, in Supabase's format, for the OpenAPI document. */
import * as v from 'valibot'
import { map, open, text } from '../check/check.js'

const moment = v.pipe(text, v.isoTimestamp())
const json = map(text, v.unknown(), 'an object')

const identityAnswer = open({
  identity_id: text,
  id: text,
  user_id: text,
  identity_data: v.nullable(json),
  provider: text,
  last_sign_in_at: moment,
  created_at: moment,
  updated_at: moment,
  email: v.optional(text),
})

export const userAnswer = open({
  id: text,
  aud: text,
  role: text,
  email: text,
  phone: text,
  email_confirmed_at: v.optional(moment),
  phone_confirmed_at: v.optional(moment),
  confirmed_at: v.optional(moment),
  invited_at: v.optional(moment),
  confirmation_sent_at: v.optional(moment),
  recovery_sent_at: v.optional(moment),
  reauthentication_sent_at: v.optional(moment),
  new_email: v.optional(text),
  email_change_sent_at: v.optional(moment),
  new_phone: v.optional(text),
  phone_change_sent_at: v.optional(moment),
  last_sign_in_at: v.optional(moment),
  banned_until: v.optional(moment),
  deleted_at: v.optional(moment),
  app_metadata: json,
  user_metadata: json,
  identities: v.nullable(v.array(identityAnswer)),
  created_at: moment,
  updated_at: moment,
  is_anonymous: v.boolean(),
})

export const sessionAnswer = open({
  access_token: text,
  token_type: v.literal('bearer'),
  expires_in: v.pipe(v.number(), v.integer()),
  expires_at: v.pipe(v.number(), v.integer()),
  refresh_token: text,
  user: userAnswer,
  weak_password: v.optional(open({ reasons: v.array(text), message: v.optional(text) })),
})

export const linkAnswer = open({
  ...userAnswer.entries,
  action_link: text,
  email_otp: text,
  hashed_token: text,
  verification_type: text,
  redirect_to: text,
})

/** The older format, for clients that send no version. */
const olderRefusal = open({
  code: v.pipe(v.number(), v.integer()),
  error_code: text,
  msg: text,
  error_id: v.optional(text),
})
const newerRefusal = open({ code: text, message: text })
/** The error of the gateway in front of the backend. */
const gatewayRefusal = open({ message: text })

export const authRefusal = v.union([olderRefusal, newerRefusal, gatewayRefusal])
