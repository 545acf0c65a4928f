/** The contract check of live and recorded answers: it follows the journal while the configuration and the modes call for it. */

import type { Violations } from '../contract/violations.js'
import type { Journal } from '../journal/index.js'
import type { Part } from './part.js'

interface Surroundings {
  readonly journal: Journal
  readonly violations: Violations
  readonly isOn: () => boolean
}

export interface ContractCheck extends Part {
  /** Starts or ends the check, as `isOn` says. */
  follow(): void
}

export function createContractCheck({ journal, violations, isOn }: Surroundings): ContractCheck {
  let end = () => {}

  function follow(): void {
    end()
    end = isOn() ? journal.follow(violations.take) : () => {}
  }

  return {
    follow,
    open: async () => follow(),
    prepare: async () => follow,
    reset({ scope }) {
      if (scope === undefined) violations.forget()
    },
    close: () => violations.settle(),
  }
}
