import { builtInType, builtInTypeNames } from '../../src/schema/built-in.ts'

/** Names of all built-in types that are registered as kinds in a group and version. */
export const builtInKindNames: readonly string[] = builtInTypeNames()
  .filter((name) => !/\.(runtime|resource|intstr)\.\w+$/.test(name) || name.includes('.api.resource.'))
  .filter((name) => {
    try {
      return builtInType(name).gvk !== undefined
    } catch {
      return false
    }
  })
