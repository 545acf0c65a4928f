/** `subscriptions/listen`: the stream on which a client without a session receives changes. */
import { isObject } from '../core/json.js'
import { eventText, invalidParams, notificationFrame, type RpcRequest, resultFrame } from '../rpc/frames.js'
import { metaKeys } from '../rpc/meta.js'
import type { Context } from './context.js'
import { withCommonMembers } from './results.js'
import { openBody } from './streams.js'

/** The notification for each member of the filter. */
const notificationMethods: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
}

/** The body of the stream. The first event acknowledges the subscriptions, the last one is the result. */
export function listenBody(request: RpcRequest, context: Context) {
  const filter = request.params?.notifications
  if (!isObject(filter)) throw invalidParams('notifications is missing.')
  const { server, exchange } = context
  const uris = Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions.map(String) : []
  const requested = Object.keys(notificationMethods).filter(kind => filter[kind] === true)
  const methods = new Set(requested.map(kind => notificationMethods[kind]))
  const subscribed = {
    ...Object.fromEntries(requested.map(kind => [kind, true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  }
  const _meta = { [metaKeys.subscription]: request.id }
  return openBody(sink => {
    const notify = (method: string, params: object = {}) =>
      sink.write(eventText(notificationFrame(method, { ...params, _meta })))
    notify('notifications/subscriptions/acknowledged', { notifications: subscribed })
    return server.sessions.listen({
      ...{ server: server.path, scope: exchange.scope },
      notify(method, params) {
        const isWanted = params?.uri === undefined ? methods.has(method) : uris.includes(String(params.uri))
        if (isWanted) notify(method, params)
      },
      keepAlive: () => sink.write(':\n\n'),
      end() {
        sink.write(eventText(resultFrame(request.id, withCommonMembers({ _meta }, context))))
        sink.end()
      },
    })
  }, true)
}
