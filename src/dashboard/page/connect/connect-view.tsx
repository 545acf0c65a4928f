/** How an app is connected: addresses, code to start with, endpoints, models. */
import { routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { Link } from '../widgets/link.jsx'
import { View } from '../widgets/view.jsx'
import { Addresses } from './addresses.jsx'
import { EndpointTable } from './endpoint-table.jsx'
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
