/** What stands around every view: the brand, the ways to the others, who is signed in, and where answers come from. */
import type { ComponentChildren } from 'preact'
import type { View } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { AccountMenu } from '../session/account-menu.jsx'
import { Brand } from './brand.jsx'
import { Navigation } from './navigation.jsx'

interface Props {
  readonly view: View
  readonly children: ComponentChildren
}

export function Frame({ view, children }: Props) {
  const { mode, version } = useConfig()
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="rail">
        <Brand />
        <Navigation view={view} />
        <p class="mode">
          mode <strong>{mode}</strong>, version {version}
        </p>
        <AccountMenu />
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}
