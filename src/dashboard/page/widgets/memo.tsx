/** Components that are rendered again only when a prop has changed. */
import { Component, type FunctionComponent } from 'preact'

export function memo<Props extends object>(Inner: FunctionComponent<Props>) {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props) {
      const before = this.props as Readonly<Record<string, unknown>>
      return Object.entries(next).some(([name, value]) => !Object.is(value, before[name]))
    }

    override render() {
      return <Inner {...(this.props as Props)} />
    }
  }
}
