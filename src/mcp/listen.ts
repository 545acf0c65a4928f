/** `subscriptions/listen`: the stream on which a client without a session receives changes. */
import { isObject } from '../core/json.js'
import { eventText, invalidParams, notificationFrame, type RpcRequest, resultFrame } from '../rpc/frames.js'
import { metaKeys } from '../rpc/meta.js'
import type { Context } from './context.js'
import { completed } from './results.js'
import { openBody } from './streams.js'

/** The notification for each member of the filter. */
const kinds: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
}

/** The first event repeats what was subscribed to, the last one is the result. */
export function listening(request: RpcRequest, context: Context) {
  const filter = request.params?.notifications
  if (!isObject(filter)) throw invalidParams('notifications is missing.')
  const { server, exchange } = context
  const uris = Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions.map(String) : []
  const asked = Object.keys(kinds).filter(kind => filter[kind] === true)
  const wanted = new Set(asked.map(kind => kinds[kind]))
  const subscribed = {
    ...Object.fromEntries(asked.map(kind => [kind, true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  }
  const _meta = { [metaKeys.subscription]: request.id }
  return openBody(sink => {
    const tell = (method: string, params: object = {}) =>
      sink.write(eventText(notificationFrame(method, { ...params, _meta })))
    tell('notifications/subscriptions/acknowledged', { notifications: subscribed })
    return server.sessions.listen({
      ...{ server: server.path, scope: exchange.scope },
      tell(method, params) {
        const isWanted = params?.uri === undefined ? wanted.has(method) : uris.includes(String(params.uri))
        if (isWanted) tell(method, params)
      },
      keepAlive: () => sink.write(':\n\n'),
      end() {
        sink.write(eventText(resultFrame(request.id, completed({ _meta }, context))))
        sink.end()
      },
    })
  }, true)
}
