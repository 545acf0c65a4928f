/** A conversation with the platform's models, over the same endpoint that apps use. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { navigate, useAddress } from '../routing.jsx'
import { Button } from '../widgets/button.jsx'
import { ask } from '../widgets/dialog.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { useOnce } from '../widgets/resource.js'
import { announce } from '../widgets/shared.js'
import { Empty, Notice } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import type { TriedMessage } from './answer.js'
import * as talk from './conversation.js'
import { PARAMETERS, Settings, useCredential } from './settings.jsx'
import { TurnItem } from './turns.jsx'

const COMPOSER = 'try-message'
const focusOn = (id: string) => document.getElementById(id)?.focus()

/** Talks to the platform as an app does. */
// Long because it is one layout.
export function TryView() {
  const conversation = talk.useConversation()
  const credential = useCredential(conversation)
  const { models } = useConfig()
  const { turns, parameters } = conversation
  const model = conversation.model || (models[0] ?? '')
  const busy = talk.isRunning(conversation)
  const problem = useOpening(turns.length > 0)
  useFollowEnd(turns)
  const send = (before: readonly talk.Turn[], messages: readonly TriedMessage[]) => {
    const wrong = talk.problemIn(parameters)
    if (wrong === undefined) void talk.send(before, messages, { model, bearer: credential.chosen.bearer })
    else announce(`Not sent. ${wrong}`)
    // The pressed button may be gone.
    focusOn(wrong === undefined ? COMPOSER : PARAMETERS)
  }
  const edit = ({ id, message }: talk.Turn) => {
    talk.begin({ turns: talk.turnsBefore(id), draft: String(message.content) })
    focusOn(COMPOSER)
  }
  const clear = () => {
    talk.begin()
    announce('The conversation was cleared.')
    focusOn(COMPOSER)
  }
  return (
    <View
      title="Try"
      lead="Talk to the platform as your app does. Every request is in Activity, too."
      action={turns.length > 0 && <Button onClick={clear}>Clear</Button>}
    >
      <div class="try stack">
        <div class="conversation">
          {problem !== undefined && <Notice tone="care">{problem}</Notice>}
          {turns.length === 0 && (
            <Empty title="No messages yet">
              Write one below. With emulated models, “standin:status-503” and other magic words make them fail.
            </Empty>
          )}
          <ol class="stack">
            {turns.map((turn, i) => (
              <TurnItem
                key={turn.id}
                turn={turn}
                isLast={i === turns.length - 1}
                busy={busy}
                onEdit={edit}
                onAgain={({ id }) => send(talk.turnsBefore(id), [])}
                onResults={messages => send(turns, messages)}
              />
            ))}
          </ol>
          <Composer
            of={conversation}
            busy={busy}
            onSay={text => send(turns, text.trim() === '' ? [] : [{ role: 'user', content: text }])}
          />
        </div>
        <Settings of={conversation} credential={credential} model={model} />
      </div>
    </View>
  )
}

/** Opens the request that the address names. Asks before it replaces a conversation. Returns what is wrong, if anything is. */
function useOpening(hasTurns: boolean): string | undefined {
  const exchange = useAddress().query.get('exchange')
  const [problem, setProblem] = useState<string>()
  const start = (found: Partial<talk.Conversation>) => {
    talk.begin(found)
    focusOn(COMPOSER)
    announce('The request is ready to be sent.')
  }
  const open = ({ request }: { readonly request: { readonly body?: unknown } }) => {
    // Without the exchange in the address, going back and forward does not replace the conversation again.
    navigate(routes.try, { replace: true })
    const found = talk.conversationOf(request.body)
    if (!found) return setProblem('This is not a chat request, or its body was not kept, so it cannot be opened here.')
    if (!hasTurns) return start(found)
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
  useOnce({ load, take: open, failed: ({ message }) => setProblem(message) }, [exchange])
  return problem
}

/** How many pixels from the end still count as the end. */
const NEAR = 64

/** Keeps the end of the growing page in view while the user is there. */
function useFollowEnd(turns: readonly talk.Turn[]): void {
  const end = useRef(0)
  useLayoutEffect(() => {
    const { scrollHeight, clientHeight, scrollTop } = document.documentElement
    if (end.current - clientHeight - scrollTop <= NEAR) scrollTo({ top: scrollHeight, behavior: 'instant' })
    end.current = scrollHeight
  }, [turns])
}

interface ComposerProps {
  readonly of: talk.Conversation
  readonly busy: boolean
  readonly onSay: (text: string) => void
}

/** The field for the next message: Enter sends it, Shift+Enter adds a line. Empty, it sends the conversation as it is. */
function Composer({ of: { draft, turns }, busy, onSay }: ComposerProps) {
  const mayBeEmpty = turns.length > 0 && turns.at(-1)?.message.role !== 'assistant'
  const say = (event: Event) => {
    event.preventDefault()
    if (!busy && (mayBeEmpty || draft.trim() !== '')) onSay(draft)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && busy) talk.stop()
    // Enter also confirms a character in an input method.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) say(event)
  }
  return (
    <form class="composer" onSubmit={say}>
      <TextArea
        id={COMPOSER}
        label="Message"
        bare
        rows={1}
        value={draft}
        placeholder="Write a message"
        onChange={text => talk.change({ draft: text })}
        onKeyDown={onKeyDown}
      />
      {busy ? (
        <Button onClick={talk.stop}>Stop</Button>
      ) : (
        <Button type="submit" tone="main">
          Send
        </Button>
      )}
    </form>
  )
}
