/** A conversation with the platform's models, over the same endpoint as an app's. */
import { useLayoutEffect, useState } from 'preact/hooks'
import { useServiceKey } from '../people/service-key.jsx'
import { useSession } from '../session/session.jsx'
import { announce } from '../widgets/announcer.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { View } from '../widgets/view.jsx'
import { useAtTheEnd } from './at-the-end.js'
import { Beginning } from './beginning.jsx'
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
import { useCredential } from './credential.js'
import { goTo } from './go-to.js'
import { ModeNote } from './mode-note.jsx'
import { useModels } from './models.js'
import { bodyWith } from './settings.js'
import { SettingsPanel } from './settings-panel.jsx'
import { SystemMessage } from './system-message.jsx'
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

/** The body of a request; where a setting makes none, the keyboard is brought to it. */
function bodyFor({ settings }: Conversation, model: string, messages: readonly object[]): object | undefined {
  const put = bodyWith(settings, model, messages)
  if ('body' in put) return put.body
  goTo(put.wrong.name)
  announce(`Not sent. ${put.wrong.sentence}`)
  return undefined
}

/** Forgets the conversation when somebody else is signed in. */
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
