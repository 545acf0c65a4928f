/** How to connect an app: addresses, example code, endpoints and models. */
import type { ComponentChildren } from 'preact'
import type { ConfigJson } from '../../operations.js'
import { routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Link } from '../widgets/link.jsx'
import { type Fact, Pairs } from '../widgets/pairs.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { Tabs } from '../widgets/tabs.jsx'
import { Section, View } from '../widgets/view.jsx'
import { accessInWords } from '../wording.js'
import { useFreshKey } from './fresh-key.jsx'
import { PLACEHOLDER, snippetsFor } from './snippets.js'

export function ConnectView() {
  const { endpoints, models, development_key } = useConfig()
  return (
    <View title="Connect" lead="Point your app at these addresses. What works here works against the live platform.">
      <Addresses />
      <Section title="Try it">
        <UsePanel otherwise={development_key}>
          {development_key ? (
            <>The public development key is filled in. It only works here. </>
          ) : (
            <>
              Replace <code>{PLACEHOLDER}</code> with a key.{' '}
            </>
          )}
          Create keys of your own under <Link to={routes.connect}>API keys</Link>.
        </UsePanel>
      </Section>
      <Section title="Endpoints">
        <Table
          caption="Endpoints"
          columns={endpointColumns}
          rows={endpoints}
          keyOf={({ method, path }) => `${method} ${path}`}
        />
      </Section>
      <Section title="Models">
        <ul class="models">
          {models.map(id => (
            <li key={id}>
              <code>{id}</code>
            </li>
          ))}
        </ul>
      </Section>
    </View>
  )
}

function Addresses() {
  const { url, auth_url, anon_key } = useConfig()
  const facts = [
    ['Base URL', url],
    ['For OpenAI’s clients', `${url}/v1`],
    ['Auth URL', auth_url],
    ['Anon key', anon_key],
  ] as const
  const copied = ([name, value]: (typeof facts)[number]): Fact => [
    name,
    <span key={name} class="line">
      <code class="cut">{value}</code>
      <CopyButton text={value} what={name} bare />
    </span>,
  ]
  return <Pairs class="pairs addresses lined" of={facts.map(copied)} />
}

type Endpoint = ConfigJson['endpoints'][number]

const endpointColumns: readonly Column<Endpoint>[] = [
  { name: 'Path', of: ({ path }) => <code>{path}</code> },
  { name: 'Method', width: '20%', of: ({ method }) => <code class="quiet">{method}</code> },
  { name: 'Credential', width: '40%', of: ({ access }) => accessInWords(access) },
]

interface UsePanelProps {
  /** The key to fill in if none was just created. */
  readonly otherwise?: string | undefined
  /** Shown above the code if no key was just created. */
  readonly children: ComponentChildren
}

/** Example code with a key filled in: the one that was just created, or else `otherwise`. */
export function UsePanel({ otherwise = PLACEHOLDER, children }: UsePanelProps) {
  const fresh = useFreshKey()
  const key = fresh?.key ?? otherwise
  const tabs = snippetsFor(useConfig(), key).map(({ name, code }) => ({
    name,
    content: <CodeBlock code={code} label={`${name} example`} marked={key} />,
  }))
  return (
    <>
      <p class="quiet">
        {fresh ? `Your new key “${fresh.name}” is filled in until you leave or reload this page.` : children}
      </p>
      <Tabs label="Clients" tabs={tabs} />
    </>
  )
}
