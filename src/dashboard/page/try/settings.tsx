/** What a request is sent with: credential, model, stream, system message, and one box of JSON for all other parameters. */
import { useConfig } from '../config.jsx'
import { freshKey, token, useSession } from '../session/session.js'
import { Button } from '../widgets/button.jsx'
import { Checkbox, PasswordField, Select, TextArea } from '../widgets/fields.jsx'
import { indented, parsed } from '../widgets/json.js'
import { type Conversation, type CredentialChoice, change, problemIn } from './conversation.js'

export const PARAMETERS = 'try-parameters'

interface Credential {
  readonly choice: CredentialChoice
  readonly words: string
  /** Rejects with a Failure if the session has ended. */
  readonly bearer: () => Promise<string | undefined>
}

const known = (choice: CredentialChoice, words: string, key?: string): Credential => ({
  choice,
  words,
  bearer: async () => key,
})

/** All possible credentials, and the one to use: the chosen one, or else the first. */
export function useCredential({ credential: wish, pastedKey }: Conversation) {
  const fresh = freshKey.use()
  const session = useSession()
  const { development_key: development } = useConfig()
  const pasted = known('pasted', 'A key that I paste', pastedKey.trim() || undefined)
  const all: readonly Credential[] = [
    ...(fresh ? [known('fresh', `New key “${fresh.name}”`, fresh.key)] : []),
    ...(development ? [known('development', 'Development key', development)] : []),
    ...(session.kind === 'user' ? [{ ...known('session', `My session (${session.email})`), bearer: token }] : []),
    pasted,
    known('none', 'None, to see the 401'),
  ]
  return { chosen: all.find(({ choice }) => choice === wish) ?? all[0] ?? pasted, all }
}

interface SettingsProps {
  readonly of: Conversation
  readonly credential: ReturnType<typeof useCredential>
  readonly model: string
}

export function Settings({ of: conversation, credential: { chosen, all }, model }: SettingsProps) {
  const { models } = useConfig()
  const { stream, system, parameters, pastedKey } = conversation
  const problem = problemIn(parameters)
  const addTool = () => change({ parameters: indented({ ...(parsed(parameters) as object | undefined), tools }) })
  return (
    <section class="settings stack" aria-label="Settings">
      <Select
        label="Credential"
        value={chosen.choice}
        options={all.map(({ choice, words }) => [choice, words])}
        onChange={credential => change({ credential })}
      />
      {chosen.choice === 'pasted' && (
        // Browsers expect password fields in forms.
        <form onSubmit={event => event.preventDefault()}>
          <PasswordField
            label="API key"
            value={pastedKey}
            onChange={pastedKey => change({ pastedKey })}
            hint="Forgotten when you leave or reload this page."
          />
        </form>
      )}
      <Select
        label="Model"
        value={model}
        options={models.includes(model) ? models : [model, ...models]}
        onChange={model => change({ model })}
      />
      <Checkbox label="Stream the answer" value={stream} onChange={stream => change({ stream })} />
      <TextArea label="System message" value={system} onChange={system => change({ system })} rows={2} />
      <TextArea
        id={PARAMETERS}
        label="Parameters (JSON)"
        code
        rows={5}
        value={parameters}
        onChange={parameters => change({ parameters })}
        error={problem}
        hint="All other fields of the request: tools, temperature, response_format, …"
      />
      {problem === undefined && (
        <div class="row">
          <Button small onClick={addTool}>
            Fill in a tool
          </Button>
        </div>
      )}
    </section>
  )
}

const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Gets the weather for a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
]
