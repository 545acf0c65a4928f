/** A conversation with the platform's models, over the same endpoint that apps use. */
import { useCallback, useLayoutEffect, useState } from 'preact/hooks'
import { glob } from '../../core/paths.js'
import { useConfig } from '../config.jsx'
import { useListing } from '../listing.js'
import { useServiceKey } from '../people/service-key.jsx'
import { useSession } from '../session/session.jsx'
import { announce } from '../widgets/announcer.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { Empty } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { CHAT } from './ask-model.js'
import { goTo, useAtTheEnd } from './at-the-end.js'
import { Composer, goToComposer } from './composer.jsx'
import {
  belongTo,
  type Conversation,
  clear,
  edit,
  isRunning,
  type Means,
  say,
  useConversation,
} from './conversation.js'
import { useCredential, useModels } from './credential.jsx'
import { bodyWith } from './settings.js'
import { SettingsPanel } from './settings-panel.jsx'
import { Transcript } from './transcript.jsx'
import { messagesOf } from './turns.js'

export function PlaygroundView() {
  const conversation = useConversation()
  useOwner()
  const credential = useCredential(conversation)
  const [settledKey, setSettledKey] = useState(conversation.pastedKey)
  const models = useModels(credential, `${credential.choice} ${settledKey}`)
  const { settings, turns, system, draft } = conversation
  const model = settings.model || (models.ids[0] ?? '')
  const { serviceKey } = useServiceKey()
  const means: Means = {
    serviceKey,
    bearer: credential.bearer,
    bodyFor: messages => bodyFor(conversation, model, messages),
  }
  const busy = isRunning(conversation)
  const { isAway, catchUp } = useAtTheEnd(turns)
  const sayNow = (text: string, before?: number) => {
    catchUp()
    say(text, means, before)
  }
  const send = (text: string) => {
    if (!bodyFor(conversation, model, [])) return
    edit({ draft: '' })
    sayNow(text)
  }
  return (
    <View title="Playground" lead={<ModeNote />} action={turns.length > 0 && <Actions {...{ conversation, busy }} />}>
      <div class="playground">
        <SettingsPanel
          {...{ conversation, credential, models, model }}
          onCredentialSettled={() => setSettledKey(conversation.pastedKey)}
        />
        <div class="conversation">
          <SystemMessage text={system} />
          {turns.length === 0 ? <Beginning onSay={send} /> : <Transcript {...{ turns, busy, means }} onSay={sayNow} />}
          <Composer {...{ draft, busy, isAway }} onSend={send} onCatchUp={catchUp} />
        </div>
      </div>
    </View>
  )
}

/** The request body. If a setting is invalid, moves the focus to it instead. */
function bodyFor({ settings }: Conversation, model: string, messages: readonly object[]): object | undefined {
  const put = bodyWith(settings, model, messages)
  if ('body' in put) return put.body
  goTo(put.wrong.name)
  announce(`Not sent. ${put.wrong.sentence}`)
  return undefined
}

/** Clears the conversation when another user signs in. */
function useOwner(): void {
  const { session } = useSession()
  const person = session.kind === 'user' ? session.email : undefined
  useLayoutEffect(() => {
    if (session.kind !== 'unknown') belongTo(person)
  }, [session.kind, person])
}

function Actions({ conversation, busy }: { readonly conversation: Conversation; readonly busy: boolean }) {
  const clearAll = () => {
    clear()
    announce('The conversation is cleared.')
    goToComposer()
  }
  return (
    <div class="playground-actions">
      {!busy && <CopyButton text={textOf(conversation)} what="the conversation" />}
      <button type="button" class="button button-small" onClick={clearAll}>
        Clear
      </button>
    </div>
  )
}

const textOf = ({ system, turns }: Conversation) => JSON.stringify(messagesOf(system, turns), null, 2)

interface Props {
  readonly onSay: (text: string) => void
}

const examples = ['Hello', 'Tell me a story', 'What is the weather in Oslo?'] as const

/** A live model would not understand this. */
const magic = 'standin:error-503'

/** Shown in an empty conversation: suggestions to start with. */
export function Beginning({ onSay }: Props) {
  const { mode } = useConfig()
  const shown = mode === 'emulate' ? [...examples, magic] : examples
  return (
    <Empty title="Nothing has been said yet">
      <p>Write a message below, or begin with one of these.</p>
      <ul class="examples">
        {shown.map(example => (
          <li key={example}>
            <button type="button" class="button button-small" onClick={() => onSay(example)}>
              {example}
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  )
}

/** The system message. */
export function SystemMessage({ text }: { readonly text: string }) {
  return (
    <details class="fold">
      <summary>
        System message <span class="fold-note">{text.trim() === '' ? 'none' : text}</span>
      </summary>
      <div class="fold-content">
        <TextArea
          label="System message"
          bare
          value={text}
          onChange={system => edit({ system })}
          placeholder="You are a helpful assistant."
          hint="It is sent before the conversation, from the next message on."
        />
      </div>
    </details>
  )
}

interface ModeJson {
  readonly mode: string
  /** By patterns such as `POST /v1/*`; the first match wins. */
  readonly modes: Readonly<Record<string, string>>
}

/** Says where the answers come from. */
export function ModeNote() {
  const { mode: configured } = useConfig()
  const { serviceKey } = useServiceKey()
  const load = useCallback((signal: AbortSignal) => loadMode(serviceKey, signal), [serviceKey])
  const { listing } = useListing(load)
  const mode = (listing.kind === 'ready' && listing.value) || configured
  return (
    <>
      Mode <strong>{mode}</strong>: {meanings[mode] ?? 'this is where answers come from.'}
    </>
  )
}

const meanings: Readonly<Record<string, string>> = {
  emulate: 'answers come from your rules; where none matches they are made up.',
  proxy: 'answers come from the live platform, and cost what they cost there.',
  record: 'answers come from the live platform, cost what they cost there, and are kept as recordings.',
  replay: 'answers come from recordings; what was never recorded is an error.',
}

/** The mode for chats; `undefined` if the control API is closed to the page. */
async function loadMode(bearer: string | undefined, signal: AbortSignal): Promise<string | undefined> {
  const response = await fetch('/__standin/mode', {
    headers: bearer ? { authorization: `Bearer ${bearer}` } : {},
    signal,
  })
  if (!response.ok) return undefined
  const { mode, modes }: ModeJson = await response.json()
  const own = Object.entries(modes).find(([pattern]) => fits(pattern))
  return own?.[1] ?? mode
}

function fits(pattern: string): boolean {
  const [path = '', method = 'POST'] = pattern.split(' ').reverse()
  return method === 'POST' && glob(path).test(CHAT)
}
