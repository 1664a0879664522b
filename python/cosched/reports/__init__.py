"""Reports: dataclasses that a page, a JSON file and the terminal show alike.

Each module turns the numbers of an analysis into a :class:`~cosched.reports.document.Report`; none
computes a statistic. The templates (Jinja2) stand in ``templates/``, their style sheet in
``cosched/templates/page.css``.

* ``audit``: a log, policies and what-ifs; ``audit_lead`` has its sentences, ``audit_policies``
  and ``audit_waits`` its tables, ``audit_notes`` its data notes
* ``rightsize``: recommended requests
* ``tune``: a search over settings
* ``when``: start times of pending jobs
* ``execution``: how a run of tasks or of a workflow went
* ``document``: what a report consists of, and how a page, JSON and the terminal show it
* ``formats``, ``charts``, ``audit_charts``: how numbers and figures look
* ``sentences``: sentences and tables that several reports share
* ``anonymous``: a report without names of users and accounts
"""
