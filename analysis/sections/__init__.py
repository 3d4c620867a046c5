"""The sections of a report, as HTML: functions of its contents."""
