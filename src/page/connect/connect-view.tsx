/** How to connect an app: addresses, example code, endpoints, models. */
import type { ConfigJson } from '../../dashboard/operations.js'
import { routes } from '../../dashboard/routes.js'
import { useConfig } from '../config.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Link } from '../widgets/link.jsx'
import { View } from '../widgets/view.jsx'
import { PLACEHOLDER } from './snippets.js'
import { UsePanel } from './use-panel.jsx'

export function ConnectView() {
  const { endpoints, models } = useConfig()
  return (
    <View title="Connect" lead="Point your app at these addresses. What works here works against the live platform.">
      <Addresses />
      <section aria-labelledby="try">
        <h2 id="try">Try it</h2>
        <UsePanel>
          Put a key in the place of <code>{PLACEHOLDER}</code>. You make keys under{' '}
          <Link to={routes.keys}>API keys</Link>.
        </UsePanel>
      </section>
      <section aria-labelledby="endpoints">
        <h2 id="endpoints">Endpoints</h2>
        <EndpointTable endpoints={endpoints} />
      </section>
      <section aria-labelledby="models">
        <h2 id="models">Models</h2>
        <ul class="models">
          {models.map(id => (
            <li key={id}>
              <code>{id}</code>
            </li>
          ))}
        </ul>
      </section>
    </View>
  )
}

/** The addresses and keys an app needs. */
function Addresses() {
  const { url, auth_url, anon_key } = useConfig()
  const facts = [
    ['Base URL', url],
    ['For OpenAI’s clients', `${url}/v1`],
    ['Auth URL', auth_url],
    ['Anon key', anon_key],
  ] as const
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{value}</code>
            <CopyButton text={value} what={name} bare />
          </dd>
        </div>
      ))}
    </dl>
  )
}

const credentials: Record<string, string> = {
  anon: 'anon key',
  service: 'service key',
  user: 'user token',
  apiKey: 'API key',
}

const spoken = (access: ConfigJson['endpoints'][number]['access']) =>
  access === 'anyone' ? 'none needed' : access.map(kind => credentials[kind] ?? kind).join(', ')

/** The platform's endpoints, and who may call them. */
function EndpointTable({ endpoints }: { readonly endpoints: readonly ConfigJson['endpoints'][number][] }) {
  return (
    <table class="table table-stacking endpoints-table">
      <thead>
        <tr>
          <th scope="col">Method</th>
          <th scope="col">Path</th>
          <th scope="col">Credential</th>
        </tr>
      </thead>
      <tbody>
        {endpoints.map(({ method, path, access }) => (
          <tr key={`${method} ${path}`}>
            <td>
              <code class="method">{method}</code>
            </td>
            <td>
              <code>{path}</code>
            </td>
            <td>{spoken(access)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
