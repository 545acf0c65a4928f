/** A conversation with the platform's models, over the same endpoint that apps use. */
import { useState } from 'preact/hooks'
import { glob } from '../../../core/paths.js'
import type { JournalEntry } from '../../../journal/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { failureOf } from '../failure.js'
import { navigate, useAddress } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { ask } from '../widgets/dialog.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { indented } from '../widgets/json.js'
import { useOnce, useResource } from '../widgets/resource.js'
import { Empty, Notice } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { CHAT } from './ask-model.js'
import { goTo, useFollowEnd } from './at-the-end.js'
import { Composer, goToComposer } from './composer.jsx'
import {
  awaitsAnswer,
  begin,
  type Conversation,
  clear,
  edit,
  isRunning,
  type Sender,
  say,
  useConversation,
} from './conversation.js'
import { requirePasted, useCaller, useModels } from './credential.jsx'
import { conversationOf, type OpenedRequest } from './opened.js'
import { bodyWith } from './settings.js'
import { SettingsPanel } from './settings-panel.jsx'
import { Transcript } from './transcript.jsx'
import { messagesOf } from './turns.js'

export function PlaygroundView() {
  const conversation = useConversation()
  const caller = useCaller()
  const models = useModels(caller)
  const { settings, turns, system, draft } = conversation
  const model = settings.model || (models.ids[0] ?? '')
  const sender: Sender = {
    bearer: caller.credential.bearer,
    bodyFor: messages => bodyFor(conversation, model, messages),
  }
  const busy = isRunning(conversation)
  const { isAway, catchUp } = useFollowEnd(turns)
  const sayNow = (text: string, before?: number) => {
    catchUp()
    say(text, sender, before)
  }
  const send = (text: string) => {
    if (!bodyFor(conversation, model, []) || !requirePasted(caller)) return
    edit({ draft: '' })
    sayNow(text)
    // The pressed button may be gone.
    goToComposer()
  }
  const opening = useOpening(conversation)
  return (
    <View
      title="Playground"
      lead={<ModeNote />}
      action={turns.length > 0 && <Actions conversation={conversation} busy={busy} />}
    >
      <div class="playground stack">
        <SettingsPanel settings={settings} caller={caller} models={models} model={model} />
        <div class="conversation">
          {opening}
          <SystemMessage text={system} />
          {turns.length === 0 ? (
            <Beginning onSay={send} />
          ) : (
            <Transcript turns={turns} busy={busy} sender={sender} onSay={sayNow} />
          )}
          <Composer
            draft={draft}
            busy={busy}
            isAway={isAway}
            awaitsAnswer={awaitsAnswer(conversation)}
            onSend={send}
            onCatchUp={catchUp}
          />
        </div>
      </div>
    </View>
  )
}

/** Opens the request that the address names. Asks before it replaces a conversation. */
function useOpening(conversation: Conversation) {
  const exchange = useAddress().query.get('exchange')
  const [problem, setProblem] = useState<string>()
  const start = (found: OpenedRequest) => {
    begin(found)
    goToComposer()
    announce('The request is ready to be sent.')
  }
  const show = ({ request }: JournalEntry) => {
    // Without the exchange in the address, going back and forward does not replace the conversation again.
    navigate(routes.try, { replace: true })
    const found = conversationOf(request.body)
    if (!found) return setProblem('The body of this request was not kept, so it cannot be opened here.')
    if (conversation.turns.length === 0) return start(found)
    ask({
      title: 'Replace the conversation?',
      send: 'Replace',
      tone: 'main',
      children: <p>Your current conversation will be discarded.</p>,
      onSend: async () => {},
      onDone: () => start(found),
    })
  }
  const load =
    exchange === null ? undefined : (signal: AbortSignal) => control('GET /journal/{id}', { id: exchange, signal })
  useOnce({ load, take: show, failed: ({ message }) => setProblem(message) }, [exchange])
  return problem !== undefined && <Notice tone="care">{problem}</Notice>
}

/** The request body. Undefined if a setting is invalid; the focus moves there. */
function bodyFor({ settings }: Conversation, model: string, messages: readonly object[]): object | undefined {
  const put = bodyWith(settings, model, messages)
  if ('body' in put) return put.body
  goTo(put.wrong.name)
  announce(`Not sent. ${put.wrong.sentence}`)
  return undefined
}

function Actions({ conversation, busy }: { readonly conversation: Conversation; readonly busy: boolean }) {
  const clearAll = () => {
    clear()
    announce('The conversation was cleared.')
    goToComposer()
  }
  return (
    <div class="row">
      {!busy && (
        <CopyButton text={indented(messagesOf(conversation.system, conversation.turns))} what="the conversation" />
      )}
      <Button small onClick={clearAll}>
        Clear
      </Button>
    </div>
  )
}

const examples = ['Hello', 'Tell me a story', 'What is the weather in Oslo?'] as const

/** Magic words, which only work with emulated models. */
const magic = 'standin:error-503'

/** Shown in an empty conversation: suggestions to start with. */
function Beginning({ onSay }: { readonly onSay: (text: string) => void }) {
  const { mode } = useConfig()
  const shown = mode === 'emulate' ? [...examples, magic] : examples
  const suggestion = (example: string) => (
    <li key={example}>
      <Button small onClick={() => onSay(example)}>
        {example}
      </Button>
    </li>
  )
  return (
    <Empty title="No messages yet" more={<ul class="examples row">{shown.map(suggestion)}</ul>}>
      Write a message below, or start with one of these.
    </Empty>
  )
}

function SystemMessage({ text }: { readonly text: string }) {
  return (
    <Disclosure summary="System message" note={text.trim() === '' ? 'none' : text}>
      <TextArea
        label="System message"
        bare
        value={text}
        onChange={system => edit({ system })}
        placeholder="You are a helpful assistant."
        hint="Sent before the conversation, from the next message on."
      />
    </Disclosure>
  )
}

/** Says where the answers come from. */
function ModeNote() {
  // A new object after each reload, so that the mode of chats is loaded again with it.
  const config = useConfig()
  const { value } = useResource(loadMode, [config])
  const mode = value || config.mode
  return (
    <>
      Mode <strong>{mode}</strong>: {meanings[mode]}
    </>
  )
}

const meanings: Readonly<Record<string, string>> = {
  emulate: 'your rules answer. Where none matches, an answer is made up.',
  proxy: 'the live platform answers, and charges for it.',
  record: 'the live platform answers and charges for it, and answers are kept as recordings.',
  replay: 'recordings answer. A request that was not recorded is an error.',
}

/** The mode of chat completions. Empty if the control API is closed to the page. */
async function loadMode(signal: AbortSignal): Promise<string> {
  try {
    const { mode, modes } = await control('GET /mode', { signal })
    const own = Object.entries(modes).find(([pattern]) => fits(pattern))
    return own?.[1] ?? mode
  } catch (thrown) {
    if (failureOf(thrown).status === 0) throw thrown
    return ''
  }
}

function fits(pattern: string): boolean {
  const [path = '', method = 'POST'] = pattern.split(' ').reverse()
  return method === 'POST' && glob(path).test(CHAT)
}
