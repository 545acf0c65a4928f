/** How to connect an app: addresses, an account and its keys, example code, all endpoints, and the models. */
import { useEffect } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { CodeBlock, Section, Tabs, View } from '../widgets/view.jsx'
import { accessInWords, counted } from '../wording.js'
import { Account, OwnKeys } from './account.jsx'
import { Copied } from './connect-card.jsx'
import { snippetsFor, useExampleKey } from './snippets.js'

export function ConnectView() {
  const { url, anon_key, models } = useConfig()
  // The keys had a view of their own, and are there only now.
  useEffect(() => {
    if (location.hash === '#keys') document.getElementById('keys')?.scrollIntoView()
  }, [])
  return (
    <View title="Connect" lead="Point your app at these addresses. What works here works against the live platform.">
      <Copied
        of={[
          ['Base URL', url],
          ['For OpenAI’s clients', `${url}/v1`],
          ['Anon key', anon_key],
        ]}
      />
      <Section title="Account">
        <Account />
      </Section>
      <div id="keys">
        <Section title="API keys">
          <OwnKeys />
        </Section>
      </div>
      <Section title="Examples">
        <Examples />
      </Section>
      <Endpoints />
      <Section title={counted(models.length, 'model')}>
        <ul class="row">
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

/** All endpoints, with the credentials that they accept. */
function Endpoints() {
  const { endpoints } = useConfig()
  return (
    <Section title={counted(endpoints.length, 'endpoint')}>
      <ul class="endpoints">
        {endpoints.map(({ method, path, access }) => (
          <li key={`${method} ${path}`}>
            <code class="long-name">
              {method} {path}
            </code>{' '}
            <span class="quiet small">{accessInWords(access)}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Example code with a key filled in. */
function Examples() {
  const config = useConfig()
  const { key, fresh } = useExampleKey()
  const tabs = Object.entries(snippetsFor(config, key)).map(([name, code]) => ({
    name,
    content: <CodeBlock code={code} label={`${name} example`} marked={key} />,
  }))
  const filled = fresh
    ? `Your new key “${fresh.name}” is filled in until you leave or reload this page.`
    : config.development_key
      ? 'The public development key is filled in. It only works here.'
      : 'Put a key in place of YOUR_API_KEY.'
  return (
    <>
      <p class="quiet">{filled}</p>
      <Tabs label="Clients" at="client" tabs={tabs} />
    </>
  )
}
