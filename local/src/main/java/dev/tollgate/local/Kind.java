package dev.tollgate.local;

import dev.tollgate.local.template.Properties;

/** Brings resources of one type up. */
@FunctionalInterface
interface Kind {
  /**
   * Brings a resource up.
   *
   * @param name the name of a resource whose properties give it none
   * @param properties its properties; those that mean something are read, and those that mean
   *     nothing here are ignored by name
   */
  Brought bring(String name, Properties properties);
}
