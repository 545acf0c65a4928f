/** The field for a new password. */
import { useConfig } from '../config.jsx'
import { PasswordField } from '../widgets/fields.jsx'

interface NewPasswordProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly label?: string
  readonly required?: boolean
  /** Shown after the rule for passwords. */
  readonly note?: string
}

/** A field for a new password, with the rule for passwords as its hint. */
export function NewPasswordField({ label = 'Password', note = '', ...field }: NewPasswordProps) {
  const hint = `${useConfig().password_rule ?? ''} ${note}`.trim()
  return <PasswordField name="password" autocomplete="new-password" {...field} label={label} hint={hint} />
}
