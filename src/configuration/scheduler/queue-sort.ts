/** There is one queue: all profiles have to agree on how it is sorted. */
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import type { Plugins } from './plugins.ts'

interface Sorting {
  readonly plugins: Plugins | undefined
}

/** As kube-scheduler prints it. */
function shown({ plugins }: Sorting) {
  const of = (all: readonly { readonly name: string; readonly weight: number }[] = []) =>
    all.length === 0 ? null : all.map(({ name, weight }) => ({ Name: name, Weight: weight }))
  return { Enabled: of(plugins?.queueSort.enabled), Disabled: of(plugins?.queueSort.disabled) }
}

export function queueSortErrors(profiles: readonly Sorting[]): FieldError[] {
  const [first, ...others] = profiles.map(shown)
  const at = (index: number) => path('profiles').index(index).child('plugins', 'queueSort')
  const count = first?.Enabled?.length ?? 0
  return [
    ...(count > 1 ? [invalidValue(at(0).child('Enabled'), count, 'only one queue sort plugin can be enabled')] : []),
    ...others.flatMap((other, index) =>
      JSON.stringify(other) === JSON.stringify(first)
        ? []
        : [invalidValue(at(index + 1), other, 'must be the same for all profiles')],
    ),
  ]
}
