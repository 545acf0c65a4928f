/** Chat requests that are to be refused, for what they say or for how they say it. */
import { UNKNOWN_MODEL, Unasked } from './call.js'
import { chatBodyOf, rawChat, withApiKey, wrongChat } from './calls.js'
import type { CallFor } from './clause.js'

/** One byte more than 4 MB: spaces, which mean nothing in JSON. */
export const tooLarge = rawChat(async target => {
  if (!target.isNear) throw new Unasked('it sends 4 MB, and does so on this machine only')
  return JSON.stringify(await chatBodyOf(target)).padEnd(4_194_305)
})

export const notJson = rawChat(() => '{')
export const notSaidToBeJson = rawChat(chatBodyOf, 'text/plain')
export const unknownModel = wrongChat({ model: UNKNOWN_MODEL })
export const wrongMethod = withApiKey('/v1/chat/completions')

/** A message that is right but for this. */
export const saidWrong = (message: object): CallFor =>
  wrongChat({ messages: [{ role: 'user', content: 'Say hi.', ...message }] })

/** One of each kind: frameworks refuse them in different places, and each in its own words. */
export const mistaken: readonly CallFor[] = [
  ...[unknownModel, wrongChat({ messages: undefined }), wrongMethod, notJson, notSaidToBeJson],
  ...[wrongChat({ temperature: 'warm' }), saidWrong({ role: 1 }), tooLarge],
]
