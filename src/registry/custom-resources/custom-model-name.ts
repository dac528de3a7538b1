/** `example.com`, v1, Thing: `com.example.v1.Thing` */
export const customModelName = (group: string, version: string, kind: string): string =>
  `${group.split('.').reverse().join('.')}.${version}.${kind}`
