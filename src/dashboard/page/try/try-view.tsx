/** A conversation with the platform's models, over the same endpoint that apps use. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { navigate, useAddress } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { ask } from '../widgets/dialog.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { indented } from '../widgets/json.js'
import { useOnce } from '../widgets/resource.js'
import { Empty, Notice } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import {
  begin,
  type Conversation,
  change,
  conversationOf,
  isRunning,
  type Message,
  messagesOf,
  problemIn,
  send,
  stop,
  type Turn,
  turnsBefore,
  useConversation,
} from './conversation.js'
import { PARAMETERS, Settings, useCredential } from './settings.jsx'
import { Turns } from './turns.jsx'

export function TryView() {
  const conversation = useConversation()
  const credential = useCredential()
  const { models } = useConfig()
  const { turns, system, parameters } = conversation
  const model = conversation.model || (models[0] ?? '')
  const busy = isRunning(conversation)
  const problem = useOpening(conversation)
  const followEnd = useFollowEnd(turns)
  const sendNow = (before: readonly Turn[], messages: readonly Message[]) => {
    const wrong = problemIn(parameters)
    if (wrong !== undefined) {
      focusOn(PARAMETERS)
      announce(`Not sent. ${wrong}`)
      return
    }
    if (messages.some(({ role }) => role === 'user')) change({ draft: '' })
    followEnd()
    void send(before, messages, { model, bearer: credential.chosen.bearer })
    // The pressed button may be gone.
    focusOn(COMPOSER)
  }
  const edit = ({ id, message }: Turn) => {
    begin({ turns: turnsBefore(id), draft: String(message.content) })
    focusOn(COMPOSER)
  }
  const say = (text: string) => sendNow(turns, text.trim() === '' ? [] : [{ role: 'user', content: text }])
  return (
    <View
      title="Try"
      lead="Talk to the platform as your app does. Every request is in Activity, too."
      action={turns.length > 0 && <Actions messages={messagesOf(system, turns)} />}
    >
      <div class="try stack">
        <div class="conversation">
          {problem !== undefined && <Notice tone="care">{problem}</Notice>}
          {turns.length === 0 && <Beginning onSay={say} />}
          <Turns
            turns={turns}
            busy={busy}
            onEdit={edit}
            onAgain={({ id }) => sendNow(turnsBefore(id), [])}
            onResults={messages => sendNow(turns, messages)}
          />
          <Composer conversation={conversation} busy={busy} onSay={say} />
        </div>
        <Settings conversation={conversation} credential={credential} model={model} />
      </div>
    </View>
  )
}

const focusOn = (id: string) => document.getElementById(id)?.focus()

/** Opens the request that the address names. Asks before it replaces a conversation. Returns what is wrong, if anything is. */
function useOpening({ turns }: Conversation): string | undefined {
  const exchange = useAddress().query.get('exchange')
  const [problem, setProblem] = useState<string>()
  const start = (found: Partial<Conversation>) => {
    begin(found)
    focusOn(COMPOSER)
    announce('The request is ready to be sent.')
  }
  const show = ({ request }: { readonly request: { readonly body?: unknown } }) => {
    // Without the exchange in the address, going back and forward does not replace the conversation again.
    navigate(routes.try, { replace: true })
    const found = conversationOf(request.body)
    setProblem(found ? undefined : 'This is not a chat request, or its body was not kept, so it cannot be opened here.')
    if (found && turns.length === 0) start(found)
    else if (found)
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
  return problem
}

/** How many pixels from the end still count as the end. */
const NEAR = 64

/** Keeps the end of the growing page in view while the user is there. Returns a function that goes there. */
function useFollowEnd(turns: readonly Turn[]): () => void {
  const isThere = useRef(false)
  useEffect(() => {
    const look = () => {
      const { scrollHeight, clientHeight, scrollTop } = document.documentElement
      isThere.current = scrollHeight - clientHeight - scrollTop <= NEAR
    }
    addEventListener('scroll', look, { passive: true })
    return () => removeEventListener('scroll', look)
  }, [])
  useLayoutEffect(() => {
    if (isThere.current) scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })
  }, [turns])
  return () => {
    isThere.current = true
  }
}

function Actions({ messages }: { readonly messages: readonly Message[] }) {
  const clear = () => {
    begin()
    announce('The conversation was cleared.')
    focusOn(COMPOSER)
  }
  return (
    <div class="row">
      <CopyButton text={indented(messages)} what="the conversation" />
      <Button small onClick={clear}>
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
    <Empty title="No messages yet" more={<ul class="row">{shown.map(suggestion)}</ul>}>
      Write a message below, or start with one of these.
    </Empty>
  )
}

const COMPOSER = 'try-message'

interface ComposerProps {
  readonly conversation: Conversation
  readonly busy: boolean
  readonly onSay: (text: string) => void
}

/** The field for the next message: Enter sends it, Shift+Enter adds a line. Empty, it sends the conversation as it is. */
function Composer({ conversation: { draft, turns }, busy, onSay }: ComposerProps) {
  const mayBeEmpty = ['user', 'tool'].includes(String(turns.at(-1)?.message.role))
  const say = () => {
    if (!busy && (mayBeEmpty || draft.trim() !== '')) onSay(draft)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && busy) stop()
    // Enter also confirms a character in an input method.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    say()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (busy) stop()
    else say()
    focusOn(COMPOSER)
  }
  return (
    <form class="composer" onSubmit={submit}>
      <TextArea
        id={COMPOSER}
        label="Message"
        bare
        rows={1}
        value={draft}
        placeholder="Write a message"
        onChange={text => change({ draft: text })}
        onKeyDown={onKeyDown}
      />
      <Button type="submit" tone={busy ? undefined : 'main'}>
        {busy ? 'Stop' : 'Send'}
      </Button>
    </form>
  )
}
