/** What Standin has decided about chat requests that are wrong. */
import { listedModels, wrongChat } from '../calls.js'
import { asking, type CallFor, type Clause, type Look } from '../clause.js'
import { jsonIn, naming, status } from '../looks.js'
import { notJson, notSaidToBeJson, saidWrong, unknownModel } from '../mistaken.js'

const bounds = 'Required or optional status, defaults and bounds of request fields: not shown.'
const bodies = 'Error codes other than 404 and 401, and error bodies for invalid chat requests: not shown.'

/** Status 400, and an error that names the field. */
const invalid = (id: string, what: string, named: string, call: CallFor, quotes = [bounds, bodies]): Clause => ({
  ...{ id, what, quotes, section: 'Resources and their fields', source: 'decided' },
  check: asking(call, status(400), naming(named)),
})

const listsModels: Look = {
  expected: 'an error that lists the models',
  async differs({ text }, target) {
    const { error } = jsonIn(text).value as { readonly error: string }
    const missing = (await listedModels(target)).filter(id => !error.includes(id))
    return missing.length === 0 ? undefined : `no word of ${missing.join(', ')}`
  },
}

export const chatRefusalClauses: readonly Clause[] = [
  invalid('CHAT-D6', 'A chat request without a model is refused.', 'model', wrongChat({ model: undefined })),
  invalid('CHAT-D7', 'A chat request without messages is refused.', 'messages', wrongChat({ messages: undefined })),
  invalid(
    'CHAT-D8',
    'A chat request with no message in its messages is refused.',
    'messages',
    wrongChat({ messages: [] }),
  ),
  invalid('CHAT-D9', 'A temperature higher than 2 is refused.', 'temperature', wrongChat({ temperature: 2.1 })),
  invalid('CHAT-D10', 'A model that is no string is refused.', 'model', wrongChat({ model: 1 })),
  invalid('CHAT-D11', 'Messages that are no array are refused.', 'messages', wrongChat({ messages: 'Say hi.' })),
  invalid('CHAT-D12', 'A role that is no string is refused.', 'role', saidWrong({ role: 1 })),
  invalid('CHAT-D13', 'Content that is no text is refused.', 'content', saidWrong({ content: 1 })),
  invalid('CHAT-D14', 'A temperature that is no number is refused.', 'temperature', wrongChat({ temperature: 'warm' })),
  invalid('CHAT-D15', 'A stream that is no boolean is refused.', 'stream', wrongChat({ stream: 'yes' })),
  {
    id: 'CHAT-D16',
    section: 'Errors',
    quotes: [bodies],
    what: 'A model that the listing does not return is refused with status 400.',
    source: 'decided',
    needs: ['CHAT-2.1'],
    check: asking(unknownModel, status(400)),
  },
  {
    id: 'CHAT-D17',
    section: 'Errors',
    quotes: [bodies],
    what: 'The error about a model that is not listed lists those that are.',
    source: 'decided',
    needs: ['CHAT-D16', 'MODELS-D1', 'ERR-5'],
    check: asking(unknownModel, listsModels),
  },
  {
    id: 'CHAT-D18',
    section: 'Errors',
    quotes: [bodies],
    what: 'A body that is not JSON is refused with status 400.',
    source: 'decided',
    check: asking(notJson, status(400)),
  },
  {
    id: 'CHAT-D19',
    section: 'Errors',
    quotes: [bodies],
    what: 'A body that is not said to be JSON is refused with status 415.',
    source: 'decided',
    check: asking(notSaidToBeJson, status(415)),
  },
]
