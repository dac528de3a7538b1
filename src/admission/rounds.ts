import { cloneInParts } from '../json/clone-json.ts'
import type { Json } from '../api/object.ts'
import { valuesEqualApart } from '../json/value-order.ts'
import { walked } from '../request/turns.ts'
import type { Attributes } from './attributes.ts'
import { Reinvocation } from './reinvocation.ts'

/**
 * Which policies or webhooks mutating admission calls a second time: those with reinvocationPolicy IfNeeded after
 * which another plugin changed the object.
 */
export class Rounds {
  private output: Json | undefined
  private readonly mayBeAgain = new Set<string>()
  private readonly again = new Set<string>()
  private reinvocation = new Reinvocation()
  private isDirty = false

  async begin({ reinvocation, object, request }: Attributes): Promise<void> {
    this.reinvocation = reinvocation ?? this.reinvocation
    this.isDirty = false
    const { output } = this
    if (!this.reinvocation.isSecond || output === undefined) return
    const isSame = await walked(request, () => valuesEqualApart(output, (object ?? null) as unknown as Json))
    // other plugins have changed it since
    if (!isSame) this.callAgain()
  }

  isTurnOf(key: string): boolean {
    return !this.reinvocation.isSecond || this.again.has(key)
  }

  mutated(): void {
    this.isDirty = true
  }

  changed(): void {
    this.callAgain()
    this.reinvocation.isWanted = true
  }

  mayReturn(key: string): void {
    this.mayBeAgain.add(key)
  }

  async end({ object, request }: Attributes): Promise<void> {
    // in kube-apiserver a mutation counts even where it changed nothing
    if (this.isDirty) this.changed()
    this.output = await walked(request, () => cloneInParts((object ?? null) as unknown as Json))
  }

  private callAgain(): void {
    for (const key of this.mayBeAgain) this.again.add(key)
    this.mayBeAgain.clear()
  }
}
