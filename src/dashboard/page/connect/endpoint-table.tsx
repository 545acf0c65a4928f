/** What the platform answers, and who may ask. */
import type { EndpointJson } from '../../wire.js'

const credentials: Record<string, string> = {
  anon: 'anon key',
  service: 'service key',
  user: 'user token',
  apiKey: 'API key',
}

const spoken = (access: EndpointJson['access']) =>
  access === 'anyone' ? 'none needed' : access.map(kind => credentials[kind] ?? kind).join(', ')

export function EndpointTable({ endpoints }: { readonly endpoints: readonly EndpointJson[] }) {
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
