package dev.tollgate.league.adapters;

import com.alibaba.csp.sentinel.log.LogTarget;
import com.alibaba.csp.sentinel.log.Logger;
import com.alibaba.csp.sentinel.log.RecordLog;

/** Keeps Sentinel from printing and from writing files in the home directory. */
@LogTarget(RecordLog.LOGGER_NAME)
public final class SilentLog implements Logger {
  @Override
  public void info(String format, Object... arguments) {}

  @Override
  public void info(String text, Throwable thrown) {}

  @Override
  public void warn(String format, Object... arguments) {}

  @Override
  public void warn(String text, Throwable thrown) {}

  @Override
  public void trace(String format, Object... arguments) {}

  @Override
  public void trace(String text, Throwable thrown) {}

  @Override
  public void debug(String format, Object... arguments) {}

  @Override
  public void debug(String text, Throwable thrown) {}

  @Override
  public void error(String format, Object... arguments) {}

  @Override
  public void error(String text, Throwable thrown) {}
}
