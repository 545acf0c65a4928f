/** Sign-ins by other providers, from the app to the page and back. Loaded on demand. */
import { randomUUID } from 'node:crypto'
import { isEmail } from '../../check/forms.js'
import { PlatformError } from '../../core/errors.js'
import type { Exchange } from '../../core/exchange.js'
import type { Reply } from '../../core/reply.js'
import { digestOf } from '../../core/secrets.js'
import type { FlowStateRow, Tables } from '../../state/rows.js'
import { type Backend, externalUrl, momentOf } from '../backend.js'
import { isUuid } from '../callers.js'
import { badCallback, badState, flowStateUsed, noExchange, providerNotEnabled } from '../errors.js'
import {
  isProvider,
  issuesRefreshToken,
  type ProviderAccount,
  type ProviderName,
  providerTokens,
} from '../providers.js'
import { challengeIn, type Grant, isFlowOver, newFlow, startSession } from '../sessions.js'
import { type AccountResult, linkAccount, type ProviderFlow, userOfAccount } from '../social.js'
import { accountPage, MOST_ACCOUNTS } from './account-page.js'
import { announce } from './addresses.js'
import { queryOf, redirectOf, redirectReply } from './frame.js'
import { fragmentOf, oauthErrors, withFragment, withQuery } from './verify.js'

/** OAuth's own parameters, and Supabase's. All others go on to the provider. */
const notForProvider =
  /^(provider|scopes|redirect_to|skip_http_redirect|invite_token|client_id|client_secret|redirect_uri|response_type|state|code|code_challenge|code_challenge_method|code_verifier)$/i

/** Stores the sign-in, and returns where it continues: at the page, or at the callback if the account is configured. */
export async function beginAtProvider(
  backend: Backend,
  exchange: Exchange,
  linkingUserId: string | null,
): Promise<string> {
  const query = queryOf(exchange)
  const provider = enabledProvider(backend, (query.get('provider') ?? '').toLowerCase())
  const [code_challenge = '', code_challenge_method = ''] = ['code_challenge', 'code_challenge_method'].map(
    name => query.get(name) ?? '',
  )
  const flow: FlowStateRow = {
    ...newFlow(backend, challengeIn({ code_challenge, code_challenge_method }), 'oauth'),
    provider,
    redirect_to: redirectOf(backend, exchange),
    linking_user_id: linkingUserId,
    is_offline: issuesRefreshToken(provider, query),
  }
  await backend.state.write(async tables => {
    await dropOldFlows(backend, tables, null)
    await tables.flow_states.insert(flow)
  })
  const settings = backend.settings.external[provider]
  const account = typeof settings === 'object' ? settings.account : undefined
  if (account !== undefined)
    return `${externalUrl(backend)}/callback?${new URLSearchParams({ code: account, state: flow.id })}`
  const passed = [...query].filter(([name]) => !notForProvider.test(name))
  return `${externalUrl(backend)}/authorize/account?${new URLSearchParams([['state', flow.id], ...passed])}`
}

function enabledProvider({ settings }: Backend, name: string): ProviderName {
  if (name.startsWith('custom:')) throw providerNotEnabled('custom OAuth providers are disabled')
  if (!isProvider(name)) throw providerNotEnabled(`Provider ${name} could not be found`)
  if (!settings.external[name]) throw providerNotEnabled()
  return name
}

/** Removes the flows of a user, or of nobody yet, that were never finished. */
async function dropOldFlows(backend: Backend, { flow_states }: Tables, user_id: string | null): Promise<void> {
  for (const flow of await flow_states.find({ user_id })) {
    if (isFlowOver(backend, flow)) await flow_states.remove({ id: flow.id })
  }
}

/** The page of the provider, for the sign-in that these parameters name. */
export async function showAccounts(backend: Backend, exchange: Exchange): Promise<Reply> {
  const query = queryOf(exchange)
  const found = await waitingFlow(backend, query)
  if ('refusal' in found) return found.refusal
  const newest = await backend.state.read(tables =>
    tables.users.find({ deleted_at: null }, { limit: 50 * MOST_ACCOUNTS }),
  )
  const users = newest.filter(user => !backend.isOfOtherTest?.(exchange.scope, user)).slice(0, MOST_ACCOUNTS)
  return accountPage(found.flow, users, query.get('login_hint') ?? '')
}

/** Finds the flow of a state. Without one, the browser goes to the site, since it is not known where it came from. */
async function waitingFlow(
  backend: Backend,
  params: URLSearchParams,
): Promise<{ readonly flow: ProviderFlow } | { readonly refusal: Reply }> {
  try {
    const state = params.get('state') ?? ''
    if (state === '') throw badCallback('OAuth state parameter missing')
    if (!isUuid(state)) throw badState('parameter is invalid')
    const flow = await backend.state.read(({ flow_states }) => flow_states.get(state.toLowerCase()))
    if (!flow || !isOfProvider(flow)) throw badState('not found or expired')
    if (isFlowOver(backend, flow)) throw badState('has expired')
    if (flow.user_id !== null) throw flowStateUsed()
    return { flow }
  } catch (error) {
    return { refusal: redirectReply(withQuery(backend.settings.siteUrl, errorFields(error))) }
  }
}

const isOfProvider = (flow: FlowStateRow): flow is ProviderFlow => flow.provider !== null && flow.redirect_to !== null

/** Redirects the browser to the app with the result of the page. */
export async function finishAtProvider(backend: Backend, params: URLSearchParams, ipAddress?: string): Promise<Reply> {
  const found = await waitingFlow(backend, params)
  if ('refusal' in found) return found.refusal
  const { flow } = found
  const { redirect_to, provider, is_offline } = flow
  const refused = (fields: Record<string, string>) => redirectReply(withFragment(redirect_to, fields, true), 302)
  const { error, error_description = '' } = Object.fromEntries(params)
  if (error) return refused({ error, error_description })
  try {
    const account = accountIn(flow, params)
    const result = await backend.state.write(tables => finish(backend, tables, flow, account))
    if ('refusal' in result) {
      announce(backend, result.messages)
      throw result.refusal
    }
    if ('code' in result) return redirectReply(withQuery(redirect_to, { code: result.code }), 302)
    return redirectReply(
      `${redirect_to}#${await fragmentOf(backend, result, providerTokens(provider, is_offline), ipAddress)}`,
      302,
    )
  } catch (error) {
    return refused(errorFields(error))
  }
}

/** Exchanges the code: here it is the address itself. Rejects for any other, such as that of the button that fails. */
function accountIn({ provider }: ProviderFlow, params: URLSearchParams): ProviderAccount {
  const code = params.get('code') ?? ''
  if (code === '') throw badCallback('OAuth callback with missing authorization code missing')
  if (!isEmail(code)) throw noExchange(code)
  return { provider, email: code.toLowerCase(), isVerified: params.get('unverified') !== 'true' }
}

type Finished = Grant | { readonly code: string } | Extract<AccountResult, { readonly refusal: unknown }>

/** Finds the user, and gives out a code for the app to exchange or, without PKCE, the session. */
async function finish(
  backend: Backend,
  tables: Tables,
  flow: ProviderFlow,
  account: ProviderAccount,
): Promise<Finished> {
  const current = await tables.flow_states.get(flow.id)
  // The user may have chosen twice.
  if (!current || current.user_id !== null) throw flowStateUsed()
  const { linking_user_id } = flow
  const result =
    linking_user_id === null
      ? await userOfAccount(backend, tables, account)
      : await linkAccount(backend, tables, linking_user_id, account)
  if ('refusal' in result) return result
  const { user } = result
  if (flow.code_challenge === '') {
    await tables.flow_states.remove({ id: flow.id })
    return startSession(backend, tables, user, 'oauth')
  }
  await dropOldFlows(backend, tables, user.id)
  const code = randomUUID()
  const issued = { user_id: user.id, auth_code: digestOf(code), auth_code_issued_at: momentOf(backend) }
  await tables.flow_states.update(flow.id, issued)
  return { code }
}

/** The codes that count as a refusal of access. Other errors are named after their status. */
const denials: readonly string[] = ['signup_disabled', 'user_banned', 'provider_email_needs_verification']

/** The parameters with which an error reaches the app. */
function errorFields(error: unknown): Record<string, string> {
  if (!(error instanceof PlatformError)) throw error
  const { code, message, status } = error
  const name = denials.includes(code) ? 'access_denied' : (oauthErrors.get(status)?.error ?? 'server_error')
  return { error: name, error_code: code, error_description: message }
}
